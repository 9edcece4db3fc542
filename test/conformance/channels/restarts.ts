import { isFullRun } from '@parley/core/testing';
import { expect } from 'vitest';
import type { ChannelBehavior } from './behaviour.ts';

/**
 * Tests what survives when the process ends, for messages in each state: answered, being answered,
 * not yet received. Ending the process once covers all states, because each end costs seconds.
 * @param quotes whether the platform shows which message an answer replies to.
 */
export const restarts = (quotes: boolean): readonly ChannelBehavior[] =>
  (['SIGTERM', 'SIGKILL'] as const).map((signal) => ({
    title: `[D01] [D04] [F08] [F11] [W02] an end by ${signal} loses nothing, answers once and remembers, for each chat alone`,
    async run(scene) {
      // SIGTERM does not depend on the channel, so in a normal run only e2e/ tests it; this test
      // closes Parley in the same way.
      if (signal === 'SIGKILL' || isFullRun()) await scene.moveApart();
      const [done, away, cut] = [scene.peer.direct(), scene.peer.direct(), scene.peer.direct()];
      await scene.exchange(done, `my number is 4711 ${signal}`);
      await scene.exchange(away, `before the end by ${signal}`);
      const held = scene.hold(`cut by ${signal}`);
      await scene.ask(cut, `cut by ${signal}`);
      const group = quotes ? scene.peer.group() : null;
      const heldThere = group && scene.hold(`cut there by ${signal}`);
      const question = group && (await scene.ask(group, `cut there by ${signal}`));
      await Promise.all([held.asked, heldThere?.asked]);

      await scene.stop(signal);
      await scene.ask(away, `while away ${signal}`);
      await scene.start();
      held.release();
      heldThere?.release();

      await scene.until(cut, `cut by ${signal}`, 40_000);
      if (group) {
        const [answer] = await scene.until(group, `cut there by ${signal}`, 40_000);
        expect(answer?.replyTo).toBe(question);
      }
      await scene.until(away, `while away ${signal}`, 40_000);
      expect(scene.answers(away)).toHaveLength(2);

      await scene.exchange(done, `which number ${signal}`);
      await scene.exchange(scene.peer.direct(), `whose number ${signal}`);
      const requests = scene.model.requests.map(({ body }) => JSON.stringify(body));
      const asked = (words: string) => requests.find((text) => text.includes(`${words} ${signal}`));
      expect(asked('which number')).toContain('4711');
      expect(asked('whose number')).not.toContain('4711');

      // A process killed before it recorded an answer may report the answer as uncertain.
      const times = (place: typeof cut, words: string) =>
        scene.answers(place).filter(({ text }) => text.includes(words)).length;
      expect(times(cut, 'You said')).toBe(1);
      expect(times(done, `my number is 4711 ${signal}`)).toBe(1);
    },
  }));
