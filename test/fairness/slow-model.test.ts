import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startTelegramScene, type TelegramScene } from '../e2e/telegram-scene.ts';

let scene: TelegramScene;
afterEach(() => scene.close());

const people = (count: number) => Array.from({ length: count }, (_, nth) => 10_000 + nth);

/** Resident memory of a process, in MB. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

describe('a slow model', () => {
  it.runIf(inject('procPath'))(
    '[D02] [D05] does not delay other chats when it is slow for 120 chats, and each of the 120 is answered eventually',
    async () => {
      const slow = people(120);
      const quick = 9_999;
      scene = await startTelegramScene({}, {}, { allow: [...slow, quick] });
      const { pid } = await scene.startApart();
      const before = memoryOf(pid);
      const held = slow.map((chat) => scene.hold(`question of ${chat}`));
      for (const chat of slow) scene.telegram.say({ chat, text: `question of ${chat}` });
      await Promise.all(held.map(({ asked }) => asked));
      for (let nth = 1; nth <= 3; nth += 1) {
        scene.telegram.say({ chat: quick, text: `quick ${nth}` });
        await scene.untilAnswers(quick, nth);
      }
      expect(slow.flatMap((chat) => scene.answers(chat))).toEqual([]);
      expect(memoryOf(pid) - before).toBeLessThan(150);
      for (const one of held) one.release();
      for (const chat of slow) {
        expect(await scene.untilAnswers(chat, 1)).toEqual([`You said: question of ${chat}`]);
      }
    },
  );

  it('[D05] delays others only once as many turns run as the settings allow', async () => {
    const [one = 0, two = 0, three = 0] = people(3);
    const lanes = { concurrency: 2, collectPauseMs: 0 };
    scene = await startTelegramScene({}, { lanes }, { allow: [one, two, three] });
    const held = [one, two].map((chat) => scene.hold(`question of ${chat}`));
    for (const chat of [one, two]) scene.telegram.say({ chat, text: `question of ${chat}` });
    await Promise.all(held.map(({ asked }) => asked));
    const asked = scene.model.total;
    scene.telegram.say({ chat: three, text: 'third' });
    // A command does not need a turn, so it is answered; the message before it is already stored.
    scene.telegram.say({ chat: three, text: '/whoami' });
    expect((await scene.untilAnswers(three, 1))[0]).toContain('You are');
    expect(scene.model.total).toBe(asked);
    held[0]?.release();
    expect((await scene.untilAnswers(three, 2)).at(-1)).toBe('You said: third');
    held[1]?.release();
  });
});
