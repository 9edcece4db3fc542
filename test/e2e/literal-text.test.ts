import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

const TOKEN = 'owner-token-for-the-api-0123456789abcdef';
const STRANGER = 777;
/** Text that some platform might interpret as a mark, a link, a reference or an escape. */
const HOSTILE = '*a_b* [x](y) [z]\\(w\\) &lt; &amp;nbsp; \\_ <b> ~~d~~ ||e|| \\d+\\.';
/** The private characters that Parley uses internally as placeholders. */
const STAND_INS = /[\ufdd0-\ufdef\u{1fffe}\u{1ffff}\u{2fffe}]/u;

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene(
    {},
    {
      agent: { name: `Polly ${HOSTILE}` },
      api: { clients: { desk: { token: TOKEN, owner: true } } },
      heartbeat: { quietHours: 'off' },
    },
  );
  put('skills/tea/SKILL.md', `---\ndescription: ${JSON.stringify(`Tea ${HOSTILE}`)}\n---\nBoil.\n`);
  put('HEARTBEAT.md', `## mail ${HOSTILE}\n- every: 30 min\n- do: Look.\n`);
});
afterAll(() => scene.close());

function put(name: string, text: string): void {
  const path = join(scene.folder.path, 'workspace', name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

async function say(text: string, chat = ANN): Promise<string> {
  const before = scene.answers(chat).length;
  scene.telegram.say({ chat, text, from: { id: chat, first_name: `Name ${HOSTILE}` } });
  return (await scene.untilAnswers(chat, before + 1)).at(-1) ?? '';
}

async function api(content: string): Promise<string> {
  const response = await fetch(`${scene.parley.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content }] }),
  });
  return response.text();
}

/** Removes the characters with which Parley keeps a name from pinging people. */
const seen = (text: string) => text.replaceAll(/[\u200b\u2060]/g, '');

describe("other people's text in Parley's own messages", () => {
  it('[M01] [G13] [F05] is shown as written: names, skills, tasks, memories and strangers', async () => {
    await say(`Always remember ${HOSTILE}`);
    expect(seen(await say('/memory'))).toContain(`Always remember ${HOSTILE}`);
    expect(seen(await say('/help'))).toContain(`I am Polly ${HOSTILE}. Just`);
    expect(seen(scene.answers(ANN).at(-1) ?? '')).toContain(`Tea ${HOSTILE}`);
    expect(seen(await say('/status'))).toContain(`Polly ${HOSTILE} is here.`);
    expect(seen(await say('/heartbeat'))).toContain(`mail ${HOSTILE}`);
    await say('may I?', STRANGER);
    expect(seen(await say('/pair'))).toContain(`Name ${HOSTILE}`);
  });

  it('[M01] [G02] is shown as written in the choices of a question', async () => {
    const choices = ['[x](y) &lt; \\_', '*b* 2) c'];
    scene.model.queue({
      toolCalls: [{ name: 'ask_user', arguments: { question: 'Which \\d+\\.\\w &lt;?', choices } }],
    });
    const asked = seen(await say('ask me'));
    expect(asked).toContain('Which \\d+\\.\\w &lt;?');
    expect(asked).toContain(`1. ${choices[0]}\n2. ${choices[1]}`);
    await say('2');
  });

  it('[M01] never puts internal characters into messages, requests, the page, the API, the log or files', async () => {
    scene.model.queue('a\ufdd3b \u{1fffe}c');
    expect(await say('what?')).toBe('a\ufffdb \ufffdc');
    const web = createWebClient(scene.parley);
    for (const command of ['/help', '/status', '/heartbeat']) await web.post(command);
    await expect.poll(() => web.history().then(({ length }) => length)).toBe(6);
    expect((await web.history()).join('\n')).toContain('[z]\\(w\\) &amp;lt;');
    const shown = [await api('/help'), await api('/heartbeat'), ...(await web.history())];
    const pages = ['status', 'conversations', 'heartbeat', 'people', 'logs', 'approvals'];
    for (const page of pages) shown.push((await web.get(`/api/${page}`)).body);
    const requests = scene.model.requests.map(({ body }) => JSON.stringify(body));
    const all = [...shown, ...requests, ...scene.answers(ANN), scene.parley.err()];
    expect(all.filter((text) => STAND_INS.test(text))).toEqual([]);
    const files = readdirSync(scene.folder.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.filter((path) => STAND_INS.test(readFileSync(path, 'utf8')))).toEqual([]);
  });
});
