import type { AdmittedMessage } from '@parley/store';
import type { IngressDeps } from './ingress-deps.ts';
import type { IngressOutcome } from './outcome.ts';

/** What was taken is explained by its own row; everything else needs one (D08). */
export async function recordRefusal(
  { store }: Pick<IngressDeps, 'store'>,
  { message, receivedAt }: AdmittedMessage,
  outcome: IngressOutcome,
): Promise<void> {
  if (outcome.kind !== 'ignored' && outcome.kind !== 'refused') return;
  const { channel, account, chat, messageId, sender } = message;
  await store.decisions.record({
    channel,
    account,
    chatId: chat.id,
    messageId,
    senderId: sender.id,
    outcome: outcome.kind,
    reason: outcome.reason,
    at: receivedAt,
    sentAt: message.sentAt,
  });
}
