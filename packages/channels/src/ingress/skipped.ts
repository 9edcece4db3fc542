import { type InboundMessage, stripInternalFields } from '@parley/core';
import type { ChannelContext } from '../adapter.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { recordRefusal } from './refuse.ts';

/**
 * Records missed messages that an adapter does not pass on: a decision for each, and their number
 * (D07, D08).
 */
export function createSkippedRecorder(
  deps: Pick<IngressDeps, 'store' | 'meter' | 'clock'>,
): ChannelContext<unknown>['skipped'] {
  return async (messages, reason) => {
    for (const unchecked of messages) {
      const message: InboundMessage = stripInternalFields(unchecked);
      const skipped = { message, receivedAt: deps.clock() };
      await recordRefusal(deps, skipped, { kind: 'refused', reason });
      deps.meter.count('parley_overflow_total', { channel: message.channel, bound: 'missed' });
    }
  };
}

/**
 * Records an event that the agent is not shown, so that `why` covers every event that reached an
 * adapter (F16).
 */
export function createIgnoredRecorder(
  { store, clock, meter }: Pick<IngressDeps, 'store' | 'meter' | 'clock'>,
  { channel, account }: { readonly channel: string; readonly account: string },
): ChannelContext<unknown>['ignored'] {
  return async ({ chatId, messageId, senderId, at }, reason) => {
    await store.decisions.record({
      channel,
      account,
      chatId,
      messageId,
      senderId: senderId ?? chatId,
      outcome: 'ignored',
      reason,
      at: clock(),
      sentAt: at,
    });
    meter.count('parley_ingress_total', { channel, outcome: 'ignored' });
  };
}
