import { formatContextMessage, type InboundMessage } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { SenderFacts } from '../adapter.ts';
import { decideAccess } from './decide.ts';
import type { IngressDeps } from './ingress-deps.ts';
import type { DecisionRules } from './rules.ts';
import { askPlatform, toPersonId } from './sender.ts';

export async function storeAsContext(
  { store: { groupContext }, rules: { limits } }: Pick<IngressDeps, 'store' | 'rules'>,
  { conversationId, message, receivedAt }: AdmittedMessage,
): Promise<void> {
  if (limits.groupContextMessages === 0) return;
  const { channel, account, chat, messageId, sender } = message;
  const senderName = sender.isBot ? `${sender.name} (bot)` : sender.name;
  await groupContext.keep(
    { conversationId, channel, account, chatId: chat.id },
    { messageId, senderId: sender.id, senderName, text: formatContextMessage(message) },
    receivedAt,
    limits.groupContextMessages,
  );
}

/**
 * When a message starts a thread, adds the messages of its chat since the last turn there as
 * context, because people refer to them.
 */
export async function moveContextToThread(
  { store: { groupContext } }: Pick<IngressDeps, 'store'>,
  { conversationId, message: { chat }, receivedAt }: AdmittedMessage,
): Promise<void> {
  if (chat.threadId === undefined) return;
  // The thread is the last part of the id (`toConversationId`).
  const thread = `:${encodeURIComponent(chat.threadId)}`;
  if (!conversationId.endsWith(thread)) return;
  await groupContext.move(conversationId.slice(0, -thread.length), conversationId, receivedAt);
}

/** The maximum number of earlier messages that are added to one conversation. */
const MAX_EARLIER = 50;

/**
 * The messages that were written in a group before this one and are not stored yet, oldest first:
 * context of its turn (F06). Messages older than a stored one were accepted or skipped when they
 * arrived. Access is decided as for any message (F05).
 */
export async function listEarlierMessages(
  { store, log }: Pick<IngressDeps, 'store' | 'log'>,
  { message }: AdmittedMessage,
  rules: DecisionRules,
  { earlier }: SenderFacts,
): Promise<readonly InboundMessage[]> {
  if (earlier === undefined) return [];
  const { channel, account, chat } = message;
  const all = await askPlatform(earlier, 'what was said before', log);
  const unknown: InboundMessage[] = [];
  for (const one of (all ?? []).slice(-MAX_EARLIER).reverse()) {
    const key = { channel, account, chatId: chat.id, messageId: one.messageId };
    if ((await store.reactions.message(key)) !== null) break;
    const rights = { isOwner: rules.owners.includes(toPersonId(one)), isAllowed: false };
    const isPlain = one.chat.id === chat.id && one.text.trim() !== '';
    const isAllowed = decideAccess(one, rules.policy, rights).kind === 'allowed';
    if (isPlain && isAllowed) unknown.unshift(one);
  }
  return unknown;
}
