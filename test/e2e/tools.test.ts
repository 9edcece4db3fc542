import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import { ANN, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

let scene: TelegramScene;
beforeEach(async () => {
  scene = await startTelegramScene();
});
afterEach(() => scene.close());

function put(name: string, text: string): void {
  const path = join(scene.folder.path, 'workspace', name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

/** The tool results in a request, in order. */
const results = ({ messages }: ChatRequest) =>
  messages.filter(({ role }) => role === 'tool').map((message) => getMessageText(message));

/** A model that reads a file and reports its content. */
function readsAndTells(path: string): void {
  scene.model.reply((request) => {
    const [found] = results(request);
    if (found !== undefined) return `It says: ${found}`;
    return { text: 'Let me look.', toolCalls: [{ name: 'read', arguments: { path } }] };
  });
}

describe('an agent with tools', () => {
  it('[G01] [G02] reads a file in the workspace and uses its content in the answer', async () => {
    put('notes/birds.md', 'Parrots talk.');
    readsAndTells('notes/birds.md');
    scene.telegram.say({ chat: ANN, text: 'what do parrots do?' });
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['It says: Parrots talk.']);
    const [first] = scene.model.requests;
    expect(first && listToolNames(first.body)).toEqual(
      expect.arrayContaining(['read', 'write', 'grep']),
    );
    expect(JSON.stringify(first?.body.messages[0])).toContain('`read`');
  });

  it("[W02] does not read the owner's private files in a group, whatever the model requests", async () => {
    put('MEMORY.md', 'The heron nests in the attic.');
    readsAndTells('MEMORY.md');
    scene.telegram.say({ chat: GROUP, from: 77, text: 'tell me @parley_test_bot' });
    const [answer] = await scene.untilAnswers(GROUP, 1);
    expect(answer).toContain('There is no file MEMORY.md here');
    expect(JSON.stringify(scene.model.requests)).not.toContain('heron');
    expect(scene.model.requests.flatMap(({ body }) => listToolNames(body))).not.toContain('write');
    scene.telegram.say({ chat: ANN, text: 'tell me' });
    expect((await scene.untilAnswers(ANN, 1))[0]).toContain('heron');
  });

  it('[G16] answers once after a kill that follows a tool call, without repeating the call', async () => {
    const parley = await scene.startApart();
    put('notes/birds.md', 'Parrots talk.');
    const held = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    scene.model.reply(async (request) => {
      const [found] = results(request);
      if (found === undefined) {
        return { toolCalls: [{ name: 'read', arguments: { path: 'notes/birds.md' } }] };
      }
      second.resolve();
      await held.promise;
      return `It says: ${found}`;
    });
    scene.telegram.say({ chat: ANN, text: 'what do parrots do?' });
    await second.promise;
    await parley.end('SIGKILL');
    // The model would receive this content if the tool ran again.
    put('notes/birds.md', 'Parrots are silent.');
    held.resolve();
    await scene.startAgain();
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['It says: Parrots talk.']);
    // The model is asked once for the tool call, and once for the answer by each of the two
    // processes.
    expect(scene.model.requests.map(({ body }) => results(body).length)).toEqual([0, 1, 1]);
    scene.model.reply(() => 'next');
    scene.telegram.say({ chat: ANN, text: 'and now?' });
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['It says: Parrots talk.', 'next']);
  });

  it('[G09] stays silent in a group when it has nothing to say', async () => {
    scene.model.queue('NO_REPLY', 'Now I speak.');
    scene.telegram.say({ chat: GROUP, from: 77, text: 'thanks @parley_test_bot' });
    await expect.poll(() => scene.model.total).toBe(1);
    scene.telegram.say({ chat: GROUP, from: 77, text: 'hello @parley_test_bot' });
    expect(await scene.untilAnswers(GROUP, 1)).toEqual(['Now I speak.']);
  });
});
