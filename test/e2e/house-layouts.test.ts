import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import { runCommand, writeSettings } from './parley-process.ts';
import { ANN, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

/** Checks what each prompt layout promises, in the requests that a model receives. */

let scene: TelegramScene;
afterEach(() => scene.close());

const RHYME = 'Only now: answer in rhyme.';
const CLOSING = '\n\n[/memory context]\n\n';

const systemOf = ({ messages }: ChatRequest) => getMessageText(messages[0]);
const lastOf = ({ messages }: ChatRequest) => getMessageText(messages.at(-1));

function put(name: string, text: string): void {
  const path = join(scene.folder.path, 'workspace', name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

/** Sends a message and returns the model request that answers it. */
async function ask(text: string, chat = ANN): Promise<ChatRequest> {
  const before = scene.answers(chat).length;
  scene.telegram.say({ chat, from: ANN, text });
  // A notice from Parley may precede the answer, such as a notice about a manual edit of SOUL.md.
  const asked = () =>
    scene.model.requests.findLast(({ body }) => lastOf(body).endsWith(text))?.body;
  return scene.telegram.waitFor(() => scene.answers(chat).length > before && asked(), 30_000);
}

/** Sends a command and waits for its answer. */
async function command(text: string): Promise<void> {
  const before = scene.answers(ANN).length;
  scene.telegram.say({ chat: ANN, text });
  await scene.untilAnswers(ANN, before + 1);
}

const taken = () => scene.parley.err().split('settings were read again').length;

/** Saves changed agent settings and waits until the process applies them. */
async function changeAgent(agent: object): Promise<void> {
  const before = taken();
  const file = readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8');
  const settings = z.looseObject({}).parse(JSON.parse(file));
  writeSettings(scene.folder.path, { ...settings, agent });
  await expect.poll(taken, { timeout: 30_000 }).toBe(before + 1);
}

describe('layout lab', () => {
  it("[P05] [P13] keeps one system prompt per session, with the memory context directly before the person's text", async () => {
    scene = await startTelegramScene(
      {},
      { agent: { layout: 'lab', ephemeral: 'Be brief today.' } },
    );
    const first = await ask('first');
    expect(lastOf(first)).toContain(`\n\nBe brief today.${CLOSING}first`);
    for (const name of ['SOUL.md', 'AGENTS.md', 'TOOLS.md']) put(name, `New text of ${name}.\n`);
    put('skills/tea/SKILL.md', '---\ndescription: Makes tea.\n---\nBoil it.\n');
    await changeAgent({ layout: 'lab', ephemeral: RHYME, format: 'emotion_pipe' });
    const second = await ask('second');
    await command('/mode ask');
    const third = await ask('third');
    await changeAgent({ layout: 'lab' });
    const last = await ask('last');
    expect([second, third, last].map(systemOf)).toEqual(Array(3).fill(systemOf(first)));
    expect(systemOf(first)).not.toMatch(/Be brief today|in rhyme/);
    expect(lastOf(second)).toContain(`\n\n${RHYME}${CLOSING}second`);
    expect(lastOf(last).split(CLOSING)).toEqual([
      expect.stringMatching(/^\[memory context\]/),
      'last',
    ]);
    // The history does not contain text from the memory context.
    expect(JSON.stringify(last.messages.slice(1))).not.toMatch(/Be brief today|in rhyme/);
  });

  it('[P05] [P13] closes the memory context before the text from a group', async () => {
    scene = await startTelegramScene({}, { agent: { layout: 'lab', ephemeral: RHYME } });
    const request = await ask('what now, @parley_test_bot?', GROUP);
    expect(lastOf(request).split(`\n\n${RHYME}${CLOSING}`)[1]).toMatch(/^From "[^"]+": what now/);
  });

  it("[P05] [P13] puts a sub-agent's task at the end of the memory context", async () => {
    scene = await startTelegramScene({}, { agent: { layout: 'lab' } });
    scene.model.reply(({ messages }) => {
      const said = getMessageText(messages.at(-1));
      if (said.includes('## Your task')) return 'Parrots talk.';
      if (said.endsWith('go')) {
        const task = { title: 'parrots', task: 'find out what parrots do' };
        return { toolCalls: [{ name: 'delegate_task', arguments: task }] };
      }
      return said.includes('Parrots talk.') ? 'They talk.' : 'It is under way.';
    });
    scene.telegram.say({ chat: ANN, text: 'go' });
    await scene.untilAnswers(ANN, 2);
    const given = scene.model.requests.find(({ body }) => lastOf(body).includes('## Your task'));
    if (given === undefined) throw new Error('no sub-agent was asked');
    const [context = '', words = ''] = lastOf(given.body).split(CLOSING);
    expect(context).toMatch(/\n\n## Your task\n\nfind out what parrots do\n/);
    expect(words).toMatch(/^⚙️ /);
    expect(systemOf(given.body)).not.toContain('parrots');
  });
});

describe('layout openclaw', () => {
  it('[P07] names the system and the answering model, even if a person chose the model', async () => {
    scene = await startTelegramScene({ choices: ['third'] }, { agent: { layout: 'openclaw' } });
    const runtime = (text: string) => /## Runtime\n([\s\S]*?)\n\n# /.exec(text)?.[1] ?? '';
    const first = runtime(systemOf(await ask('hello')));
    expect(first).toMatch(/^- Operating system: \w+ \(\w+\)$/m);
    expect(first).toMatch(/^- Model: openai-compatible\/double$/m);
    await command('/model third');
    expect(runtime(systemOf(await ask('and now?')))).toMatch(
      /^- Model: openai-compatible\/third$/m,
    );
    const preview = ['--data', scene.folder.path, 'prompt', '--channel', 'telegram', '--full'];
    expect((await runCommand(preview)).out).toContain('- Model: openai-compatible/double');
  });

  it('[P07] [H05] contains the exact message that starts a heartbeat', async () => {
    const heartbeat = { quietHours: 'off' };
    scene = await startTelegramScene({}, { agent: { layout: 'openclaw' }, heartbeat });
    const [, named = ''] =
      /## Heartbeats\nHeartbeat prompt: (.*)\n/.exec(systemOf(await ask('hi'))) ?? [];
    put('HEARTBEAT.md', '## mail\n- every: 30 min\n- do: Look through new mail.\n');
    scene.model.reply(() => 'HEARTBEAT_OK');
    scene.telegram.say({ chat: ANN, text: '/heartbeat now mail' });
    const beat = () =>
      scene.model.requests.find(({ body }) => systemOf(body).includes('Task: mail'));
    await expect.poll(beat, { timeout: 30_000 }).toBeDefined();
    const request = beat()?.body;
    expect(request && lastOf(request)).toMatch(/\n\n⚙️ [^\n]+$/);
    expect(request && lastOf(request).endsWith(`\n\n${named}`)).toBe(true);
    expect(request && systemOf(request)).toContain(`## Heartbeats\nHeartbeat prompt: ${named}\n`);
  });
});

describe('the preview of a turn', () => {
  const Preview = z.looseObject({
    parts: z.array(z.looseObject({ placement: z.string(), text: z.string() })),
    tools: z.array(
      z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]),
    ),
  });
  const preview = async (...args: readonly string[]) => {
    const place = ['--channel', 'telegram', '--person', `${ANN}`, '--chat-id', `${ANN}`];
    const { out } = await runCommand([
      '--data',
      scene.folder.path,
      'prompt',
      ...place,
      '--json',
      ...args,
    ]);
    const { parts, tools } = Preview.parse(JSON.parse(out));
    const system = parts.filter(({ placement }) => placement === 'system');
    return { system: system.map(({ text }) => text).join('\n\n'), tools };
  };
  const sent = (request: ChatRequest) => ({
    system: systemOf(request),
    tools: listToolNames(request),
  });

  it.each(['openclaw', 'neomagi', 'lab'])(
    '[P07] [P17] shows the system prompt and tools that a person and a sub-agent get on Telegram: %s',
    async (layout) => {
      scene = await startTelegramScene({}, { agent: { layout } });
      const task = { title: 'parrots', task: 'find out what parrots do' };
      scene.model.reply(({ messages }) => {
        if (messages.map(getMessageText).join('\n').includes('## Your task'))
          return 'Parrots talk.';
        if (!getMessageText(messages.at(-1)).endsWith('go')) return 'Under way.';
        return { toolCalls: [{ name: 'delegate_task', arguments: task }] };
      });
      scene.telegram.say({ chat: ANN, text: 'go' });
      await scene.untilAnswers(ANN, 2);
      const asked = scene.model.requests.map(({ body }) => body);
      const [first] = asked;
      const given = asked.find(({ messages }) =>
        messages.map(getMessageText).join('\n').includes('## Your task'),
      );
      if (first === undefined || given === undefined) throw new Error('no sub-agent was asked');
      expect(await preview('--text', 'go')).toEqual(sent(first));
      expect(await preview('--mode', 'minimal', '--text', task.task)).toEqual(sent(given));
    },
  );
});
