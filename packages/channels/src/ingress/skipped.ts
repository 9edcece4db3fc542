import { fromOutside, type InboundMessage } from '@parley/core';
import type { ChannelContext } from '../adapter.ts';
import { recordRefusal } from './admit.ts';
import type { IngressDeps } from './ingress-deps.ts';

/** Notes missed messages that an adapter does not hand over: a decision and a count for each (D07, D08). */
export function createSkipped(
  deps: Pick<IngressDeps, 'store' | 'meter' | 'clock'>,
): ChannelContext<unknown>['skipped'] {
  return async (messages, reason) => {
    for (const unchecked of messages) {
      const message: InboundMessage = fromOutside(unchecked);
      const skipped = { message, receivedAt: deps.clock() };
      await recordRefusal(deps, skipped, { kind: 'refused', reason });
      deps.meter.count('parley_overflow_total', { channel: message.channel, bound: 'missed' });
    }
  };
}
