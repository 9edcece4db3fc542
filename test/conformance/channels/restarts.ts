import { expect } from 'vitest';
import type { Behaviour } from './behaviour.ts';

/** What survives an end of the process, in every state a message can be in. */
export const RESTARTS: readonly Behaviour[] = [
  ...(['SIGTERM', 'SIGKILL'] as const).map(
    (signal): Behaviour => ({
      title: `[D01] what is written after ${signal} is answered after the next start`,
      run: async (scene) => {
        const [place, known] = [scene.peer.direct(), scene.peer.direct()];
        await scene.exchange(place, 'before the end');
        await scene.exchange(known, 'hello');
        await scene.stop(signal);
        await scene.ask(place, `while away ${signal}`);
        await scene.start();
        await scene.until(place, `while away ${signal}`, 40_000);
        expect(scene.answers(place)).toHaveLength(2);
      },
    }),
  ),
  ...(['SIGTERM', 'SIGKILL'] as const).map(
    (signal): Behaviour => ({
      title: `[D04] [F11] a turn cut off by ${signal} is answered once after the next start, in a group with a quote`,
      needs: ['quotes'],
      run: async (scene) => {
        const place = scene.peer.direct();
        const held = scene.hold(`cut by ${signal}`);
        await scene.ask(place, `cut by ${signal}`);
        const group = scene.peer.group();
        const heldThere = scene.hold(`cut there by ${signal}`);
        const question = await scene.ask(group, `cut there by ${signal}`);
        await Promise.all([held.asked, heldThere.asked]);
        await scene.restart(signal);
        held.release();
        heldThere.release();
        await scene.until(place, `cut by ${signal}`, 40_000);
        const [answer] = await scene.until(group, `cut there by ${signal}`, 40_000);
        expect(answer?.replyTo).toBe(question);
        await scene.exchange(scene.peer.direct(), `later ${signal}`);
        const once = scene.answers(place).filter(({ text }) => text.includes('You said'));
        expect(once).toHaveLength(1);
      },
    }),
  ),
  {
    title: '[F08] what was answered before a restart is not answered again',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'said and done');
      await scene.restart('SIGKILL');
      await scene.exchange(scene.peer.direct(), 'after restart');
      // Killed before it was recorded, an answer may be told to be uncertain.
      const once = scene.answers(place).filter(({ text }) => text.includes('said and done'));
      expect(once).toHaveLength(1);
    },
  },
  {
    title: '[W02] the history of a chat survives a restart, for that chat alone',
    run: async (scene) => {
      const [place, other] = [scene.peer.direct(), scene.peer.direct()];
      await scene.exchange(place, 'my number is 4711');
      await scene.restart('SIGTERM');
      await scene.exchange(place, 'which number');
      await scene.exchange(other, 'whose number');
      const requests = scene.model.requests.map(({ body }) => JSON.stringify(body));
      expect(requests.find((text) => text.includes('which number'))).toContain('4711');
      expect(requests.find((text) => text.includes('whose number'))).not.toContain('4711');
    },
  },
];
