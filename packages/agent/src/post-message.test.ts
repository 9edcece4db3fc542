import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postNotice } from './post-message.ts';
import { openTurnScene, type TurnScene } from './testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from './testing/write-message.ts';

let scene: TurnScene;
beforeEach(async () => {
  scene = await openTurnScene();
});
afterEach(() => scene.close());

const RESUME = 'I have paused the job "Tea" (x1).';

async function notice(key: string): Promise<void> {
  const [last] = await scene.store.inbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 1);
  if (last === undefined) throw new Error('nobody wrote');
  const deps = { store: scene.store, deliver: async () => {}, clock: Date.now };
  const { route } = last;
  await postNotice(deps, { key, route, conversationId: OWNER_CHAT, markdown: RESUME });
}

describe('a notice from Parley', () => {
  it('[P18] [G08] is marked in the chat, and appears in the next turn as text from Parley, not from a person', async () => {
    await scene.write('hello', { fromOwner: true });
    await scene.answerNext();
    await notice('cron:x1:5');
    expect((await scene.owed()).at(-1)).toBe(`⚙️ ${RESUME}`);
    await scene.write('resume it', { fromOwner: true });
    await scene.answerNext();
    const { system, messages } = scene.model.asked.at(-1) ?? { messages: [] };
    const seen = String(messages.at(-1)?.content);
    expect(seen).toMatch(/<own-messages>\n⚙️ From Parley: .*\nsent: .*paused the job/);
    expect(seen).not.toContain('<group-context>');
    expect(JSON.stringify(system)).not.toContain('paused the job');
    expect(JSON.stringify(messages.slice(0, -1))).not.toContain('paused the job');
  });

  it('[P18] appears once, in a single turn, even if it is sent several times', async () => {
    await scene.write('hello', { fromOwner: true });
    await scene.answerNext();
    await notice('cron:x1:5');
    await notice('cron:x1:5');
    for (const times of [1, 0]) {
      await scene.write('what is new?', { fromOwner: true });
      await scene.answerNext();
      const seen = String(scene.model.asked.at(-1)?.messages.at(-1)?.content);
      expect(seen.split('paused the job')).toHaveLength(times + 1);
    }
  });
});
