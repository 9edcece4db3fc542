import { waitUntilConnected } from '../../e2e/channel-states.ts';
import type { TestParley } from '../../e2e/parley-here.ts';
import type { ApiAnswer } from '../../platforms/chat-sdk/doubles/api-server.ts';
import type { WebhookDeliveries } from '../../platforms/chat-sdk/doubles/deliveries.ts';
import type { PlatformDouble } from '../../platforms/chat-sdk/doubles/platform-double.ts';
import type { PlatformPeer } from './peer.ts';

const TOO_MANY_REQUESTS = { status: 429, headers: { 'retry-after': '1' }, body: {} };

/** API faults; platforms differ in how they respond when a limit is reached. */
export function createApiFaults(rateLimited: ApiAnswer = TOO_MANY_REQUESTS, serverError = 502) {
  return {
    'rate-limited': { kind: 'answer', answer: rateLimited },
    'server-error': { kind: 'answer', answer: { status: serverError, body: {} } },
    'lost-before': { kind: 'reset' },
    'lost-after': { kind: 'reset', after: true },
  } as const;
}

/**
 * The peer abilities shared by all platforms that call webhooks; none of these platforms reports
 * edits and deletions to the adapter.
 */
export function createWebhookPeer(
  channel: string,
  double: PlatformDouble,
  webhooks: readonly WebhookDeliveries[],
) {
  return {
    channel,
    async link(parley: TestParley) {
      await waitUntilConnected(parley);
      for (const webhook of webhooks)
        webhook.sendTo(`${parley.address}/channels/${channel}/default/`);
    },
    edit: () => Promise.reject(new Error('the adapter reads no edits')),
    erase: () => Promise.reject(new Error('the adapter reads no deletions')),
    tellTwice() {
      for (const webhook of webhooks) webhook.repeatNext();
    },
    tellSwapped() {
      for (const webhook of webhooks) webhook.swapNext();
    },
    disconnect() {
      double.dropConnections();
      for (const webhook of webhooks) webhook.loseNext();
    },
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: () => double.close(),
  } satisfies Partial<PlatformPeer>;
}
