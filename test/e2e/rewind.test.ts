import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene();
});
afterAll(() => scene.close());

async function say(text: string, replyTo?: number): Promise<string> {
  const before = scene.answers(ANN).length;
  scene.telegram.say({ chat: ANN, text, ...(replyTo !== undefined && { replyTo }) });
  return (await scene.untilAnswers(ANN, before + 1)).at(-1) ?? '';
}

/** The last request to the model, without the system prompt. */
const lastRequest = (): string =>
  (scene.model.requests.at(-1)?.body.messages ?? [])
    .filter(({ role }) => role !== 'system')
    .map(getMessageText)
    .join('\n');

describe('/rewind in Telegram', () => {
  it('[G23] takes back an exchange, and names what its tools did and saved', async () => {
    await say('the first question');
    const write = { name: 'write', arguments: { path: 'notes/heron.md', text: 'grey' } };
    const quote = 'I like heron pie';
    const save = { name: 'save_memory', arguments: { type: 'preference', scope: 'user', quote } };
    const read = { name: 'current_time', arguments: {} };
    scene.model.queue({ toolCalls: [write, save, read] });
    await say('Note that, and I like heron pie.');
    const answer = await say('/rewind');
    expect(answer).toMatch(/Taken back.*“Note that, and I like heron pie\.”/s);
    expect(answer).toMatch(/is not undone:.*write notes\/heron\.md · grey/s);
    expect(answer).not.toContain('current_time');
    const [, id = ''] = /\/forget (\S+)/.exec(answer) ?? [];
    const file = join(scene.folder.path, 'workspace', 'notes/heron.md');
    expect(readFileSync(file, 'utf8')).toContain('grey');
    await say('the second question');
    expect(lastRequest()).toContain('the first question');
    expect(lastRequest()).not.toContain('heron');
    expect(await say('/memory')).toContain('heron pie');
    expect(await say(`/forget ${id}`)).toContain(id);
    expect(await say('/memory')).toContain('nothing about you');
  });

  it('[G23] goes back to the message that it replies to', async () => {
    await say('the third question');
    await say('the fourth question');
    const find = (text: string) =>
      scene.telegram.conversation(ANN).find((one) => one.text === text)?.messageId;
    await say('/rewind', find('You said: the third question'));
    await say('the fifth question');
    expect(lastRequest()).toMatch(/the third question.*the fifth question/s);
    expect(lastRequest()).not.toContain('the fourth question');
    const answer = await say('/rewind', find('the third question'));
    expect(answer).toMatch(/“the third question”.*“the fifth question”/s);
  });

  it('[G23] opens a branch on the page with the same history', async () => {
    expect(await say('/branch')).toMatch(/I opened Branch of .* on the page/);
    const client = createWebClient(scene.parley);
    const { body } = await client.get('/channels/web/default/chats');
    const [chat] = JSON.parse(body);
    expect(chat).toMatchObject({ title: 'the first question' });
    const history = await client.get(`/channels/web/default/history?chat=${chat.id}`);
    expect(history.body).toContain('You said: the second question');
    expect(history.body).not.toContain('heron');
  });
});
