import { silentMeter } from '@parley/core';
import { createMovableTime, createRecordingLogger, toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openDeliveryScene } from '../testing/delivery-scene.ts';
import { deliverChat } from './deliver-chat.ts';
import { createPacer } from './pacer.ts';

const CHAT = { channel: 'test', account: 'default', chatId: 'c' };
const RATES = { account: { burst: 3, everyMs: 100 }, direct: { burst: 1, everyMs: 1_000 } };
/** The pause that the platform requests when it refuses, in ms. */
const PAUSE_MS = 5_000;
const YEAR_MS = 365 * 24 * 3_600_000;
const NEVER = new AbortController().signal;

/**
 * An event before a delivery: time passes, the clock is changed, or the platform will refuse the
 * next part.
 */
const Event = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 10_000 }) }),
  fc.record({
    kind: fc.constant('step' as const),
    ms: fc.integer({ min: -YEAR_MS, max: YEAR_MS }),
  }),
  fc.record({ kind: fc.constant('refuse' as const), ms: fc.constant(PAUSE_MS) }),
);

it('[D05] a message part waits as long as its rate limit and its platform require, however the clock is changed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Event, { minLength: 1, maxLength: 20 }), async (events) => {
      const { clock, monotonic, pass, stepClock } = createMovableTime();
      const scene = await openDeliveryScene(clock);
      const sentAt: number[] = [];
      const deps = {
        outbox: scene.store.outbox,
        capabilities: { idempotentSend: false, buttons: true },
        pacer: createPacer(RATES),
        send: async (...sent: Parameters<typeof scene.send>) => {
          const receipt = await scene.send(...sent);
          sentAt.push(monotonic());
          return receipt;
        },
        ...{ log: createRecordingLogger().log, meter: silentMeter, clock, monotonic },
        ...{ random: () => 0, checkpoint() {} },
      };
      const texts = events.map((_, nth) => `part ${nth}`);
      await scene.owe('c', texts, clock());
      for (const { kind, ms } of events) {
        if (kind === 'pass') pass(ms);
        else if (kind === 'step') stepClock(ms);
        else scene.answer('c', { kind: 'rate-limited', retryAfterMs: ms, scope: 'chat' });
        const wait = (await deliverChat(deps, CHAT, NEVER)) ?? 0;
        expect(wait).toBeLessThanOrEqual(PAUSE_MS);
        pass(wait);
      }
      // A refused part waits at most twice: for its own row, and for its chat.
      for (let calls = 0; calls < 4 * texts.length; calls += 1) {
        const wait = await deliverChat(deps, CHAT, NEVER);
        if (wait === null) break;
        expect(wait).toBeLessThanOrEqual(PAUSE_MS);
        pass(wait);
      }
      expect(scene.visible.get('c')).toEqual(texts);
      const gaps = sentAt.slice(1).map((at, nth) => at - (sentAt[nth] ?? at));
      expect(Math.min(RATES.direct.everyMs, ...gaps)).toBe(RATES.direct.everyMs);
      await scene.store.close();
    }),
    toRunOptions(40),
  );
});
