import type { AdmittedMessage } from '@parley/store';
import type { IngressOutcome } from '../adapter.ts';
import type { IngressDecision } from './decide.ts';
import type { IdentifiedMessage } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import type { IngressMemory } from './memory.ts';

/**
 * Refuses a message, with a notice if the sender may get one. The text of a refused message is not
 * stored.
 */
export async function refuseMessage(
  deps: IngressDeps,
  { admitted, rules }: Pick<IdentifiedMessage, 'admitted' | 'rules'>,
  { notice, reason }: Extract<IngressDecision, { kind: 'refuse' }>,
  memory: IngressMemory,
): Promise<IngressOutcome> {
  const { explain } = memory;
  switch (notice) {
    case 'stranger':
      await explain.stranger(admitted);
      break;
    case 'pairing':
      await explain.pairing(admitted);
      break;
    case 'too-long': {
      const { channel } = admitted.message;
      deps.meter.count('parley_overflow_total', { channel, bound: 'size' });
      await explain.tooLong(admitted, rules.limits.messageCharacters);
      return { kind: 'refused', reason, bound: 'size' };
    }
    case null:
      await recordRefusedGroup(deps, admitted, memory);
  }
  return { kind: 'refused', reason };
}

/**
 * Records a group that is not on the allow list, but never its text, so that a person can allow the
 * group (F05).
 */
async function recordRefusedGroup(
  { store, rules }: IngressDeps,
  { message: { channel, account, chat }, receivedAt }: AdmittedMessage,
  { shouldRecordGroup }: IngressMemory,
): Promise<void> {
  if (chat.type === 'direct' || rules.policy.access.groups !== 'allowlist') return;
  // The enclosing server or workspace that an access list may name, if the chat has one.
  const chatId = chat.within ?? chat.id;
  if (!shouldRecordGroup(chatId)) return;
  const title = chat.within === undefined ? (chat.title ?? null) : null;
  await store.seenGroups.note({ channel, account, chatId, title, seenAt: receivedAt });
}

/**
 * Records the outcome of a message that was not accepted (D08); accepted messages have their own
 * row.
 */
export async function recordRefusal(
  { store }: Pick<IngressDeps, 'store'>,
  { message, receivedAt }: Pick<AdmittedMessage, 'message' | 'receivedAt'>,
  { kind, reason }: Extract<IngressOutcome, { readonly reason: string }>,
): Promise<void> {
  const { channel, account, chat, messageId, sender } = message;
  await store.decisions.record({
    channel,
    account,
    chatId: chat.id,
    messageId,
    senderId: sender.id,
    outcome: kind,
    reason,
    at: receivedAt,
    sentAt: message.sentAt,
  });
}
