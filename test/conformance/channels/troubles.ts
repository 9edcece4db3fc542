import { expect } from 'vitest';
import type { ChannelBehavior } from './behaviour.ts';
import type { SendFault } from './peer.ts';

const passing = (
  [
    ['rate-limited', 'the platform asks to wait'],
    ['server-error', 'the platform fails for a moment'],
    ['lost-before', 'the connection is lost before the message was sent'],
  ] as const
).map(
  ([trouble, what]): ChannelBehavior => ({
    title: `[D04] an answer arrives once although ${what}`,
    needs: [trouble],
    run: async (scene) => {
      const place = scene.peer.direct();
      scene.peer.trouble(place, trouble);
      await scene.ask(place, `despite ${trouble}`);
      // An uncertain delivery is reported, and nothing is duplicated.
      if (trouble !== 'rate-limited' && !scene.peer.traits.has('idempotent')) {
        await scene.until(place, 'cannot tell whether', 40_000);
        expect(scene.answers(place)).toHaveLength(1);
      } else await scene.once(place, `despite ${trouble}`, 40_000);
    },
  }),
);

const inTheMiddle = (['rate-limited', 'lost-after'] as const).map(
  (trouble: SendFault): ChannelBehavior => ({
    title: `[D05] an answer of several parts stays whole and in order although ${trouble}`,
    needs: [trouble],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.exchange(place, 'open the conversation');
      scene.peer.trouble(place, trouble);
      await scene.ask(place, 'wish:lines:900');
      await scene.until(place, 'line 899', 40_000);
      const text = scene
        .answers(place)
        .map((seen) => seen.text)
        .join('\n');
      const lines = [...text.matchAll(/\bline (\d+)\b/g)].map(([, index]) => Number(index));
      expect(lines).toEqual(Array.from({ length: 900 }, (_, index) => index));
    },
  }),
);

/** Failures of outgoing messages. */
export const TROUBLES: readonly ChannelBehavior[] = [
  ...passing,
  ...inTheMiddle,
  {
    title: '[D04] an answer whose receipt is lost is neither duplicated nor forgotten',
    needs: ['lost-after'],
    run: async (scene) => {
      const place = scene.peer.direct();
      scene.peer.trouble(place, 'lost-after');
      await scene.ask(place, 'receipt lost');
      await scene.until(place, 'receipt lost', 40_000);
      if (!scene.peer.traits.has('idempotent')) {
        await scene.until(place, 'cannot tell whether', 40_000);
      }
      await scene.once(place, 'receipt lost', 40_000);
    },
  },
  {
    title: '[M04] when the markup is refused, the plain text arrives',
    needs: ['format-refused'],
    run: async (scene) => {
      const place = scene.peer.direct();
      scene.peer.trouble(place, 'format-refused');
      await scene.ask(place, 'wish:rich');
      await scene.until(place, 'quoted', 40_000);
    },
  },
  {
    title: '[D05] a chat that removes the bot delays nobody else',
    needs: ['thrown-out'],
    run: async (scene) => {
      const place = scene.peer.group();
      const held = scene.hold('before the door');
      await scene.ask(place, 'before the door');
      await held.asked;
      scene.peer.trouble(place, 'thrown-out');
      held.release();
      await scene.exchange(scene.peer.direct(), 'still here');
      expect(scene.answers(place)).toEqual([]);
    },
  },
  {
    title: '[G01] a failing model is reported in plain words, without its address',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.group();
      scene.model.fault({ kind: 'status', status: 401 });
      await scene.ask(place, 'fail please');
      await scene.peer.waitFor(() => scene.answers(place).length > 0);
      const text = scene.answers(place)[0]?.text ?? '';
      expect(text).toContain('could not get an answer');
      expect(text).not.toContain('127.0.0.1');
    },
  },
];

/** The wait grows with each lost connection until Parley restarts. */
export const LOST_CONNECTIONS: readonly ChannelBehavior[] = [
  {
    title: '[D01] a message written while the connection is down is answered',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'connected');
      scene.peer.disconnect();
      await scene.ask(place, 'into the void');
      await scene.once(place, 'into the void', 40_000);
    },
  },
  {
    title: '[D04] an answer completed while the connection is down is sent when it is back',
    run: async (scene) => {
      const place = scene.peer.direct();
      const held = scene.hold('cut me off');
      await scene.ask(place, 'cut me off');
      await held.asked;
      scene.peer.disconnect();
      held.release();
      await scene.once(place, 'cut me off', 40_000);
    },
  },
];
