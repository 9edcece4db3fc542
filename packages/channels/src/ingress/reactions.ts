import {
  getConversationAgent,
  InboundReaction,
  type Logger,
  toAgentConversation,
} from '@parley/core';
import type { StoredMessage } from '@parley/store';
import { getAgentRules, resolveAgent } from './agent-route.ts';
import { decideAccess } from './decide.ts';
import { createContractError } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { resolveConversation, toConversationId } from './route.ts';
import { findSenderRights } from './sender.ts';

type ReactionDeps = Pick<IngressDeps, 'rules' | 'clock'> & {
  readonly store: Pick<IngressDeps['store'], 'reactions' | 'pairing' | 'links'>;
  readonly log: Pick<Logger, 'debug'>;
};

/**
 * Receives people's reactions for one account, as context for the conversation's next turn (F06),
 * under the same access rules as messages (F05). Nothing from a refused sender is stored. Rejects
 * only when storing fails.
 */
export function createReactionReceiver(
  deps: ReactionDeps,
): (reaction: InboundReaction) => Promise<void> {
  return async (unchecked) => {
    const parsed = InboundReaction.safeParse(unchecked);
    if (!parsed.success) {
      throw createContractError(`The ${unchecked.channel} adapter made a reaction`, parsed.error);
    }
    const outcome = await storeReaction(deps, parsed.data);
    deps.log.debug({ message: parsed.data.messageId, outcome }, 'reaction');
  };
}

async function storeReaction(deps: ReactionDeps, reaction: InboundReaction): Promise<string> {
  const { store } = deps;
  const { channel, account, chat, messageId, sender, sentAt } = reaction;
  if (sender.isBot) return 'by a bot';
  const found = await store.reactions.message({ channel, account, chatId: chat.id, messageId });
  // The reaction belongs to the agent of the message, even if another agent would answer now (F14).
  const agent =
    found?.conversationId === undefined
      ? resolveAgent(reaction, deps.rules).agent
      : getConversationAgent(found.conversationId);
  const rules = getAgentRules(deps.rules, agent);
  if (rules === undefined) return 'the settings have no such agent';
  const rights = await findSenderRights({ store, rules }, reaction, false);
  const access = decideAccess(reaction, rules.policy, rights);
  if (access.kind === 'refused') return access.reason;
  const isDirect = chat.type === 'direct';
  if (!isDirect && rules.policy.activation === 'never') return 'groups are never answered';
  const placed = resolveReactionConversation(reaction, found);
  const isInTopic = placed.startsWith(`${toConversationId(reaction)}:`);
  const conversationId =
    isDirect && !isInTopic
      ? resolveConversation(reaction, rights.mainConversation, agent)
      : toAgentConversation(agent, placed);
  const line = {
    messageId,
    senderId: sender.id,
    senderName: sender.name,
    text: describeReaction(reaction, found),
    sentAt,
  };
  await store.reactions.keep(
    { conversationId, channel, account, chatId: chat.id },
    line,
    deps.clock(),
    rules.limits.groupContextMessages,
  );
  return 'kept';
}

/** Telegram's reactions do not name the topic; the stored message does. */
function resolveReactionConversation(
  reaction: InboundReaction,
  found: StoredMessage | null,
): string {
  const { chat } = reaction;
  if (chat.threadId !== undefined || found === null) return toConversationId(reaction);
  if (found.by === 'person') return toAgentConversation(undefined, found.conversationId);
  const { threadId } = found;
  return toConversationId({ ...reaction, chat: { ...chat, ...(threadId && { threadId }) } });
}

/** The maximum length of the message's quotation, in characters: enough to recognize it. */
const MAX_QUOTE = 80;

/** The context line of a reaction, which the prompt treats as data (P18). */
export function describeReaction(
  { emojis, sender, quoted }: Pick<InboundReaction, 'emojis' | 'sender' | 'quoted'>,
  found: StoredMessage | null,
): string {
  const did =
    emojis.length === 0 ? 'took back the reaction to' : `reacted with ${emojis.join(' ')} to`;
  const text = shortenQuote(found?.text || quoted || '');
  return `[${did} ${describeAuthor(found, sender.id)}${text === '' ? '' : ` "${text}"`}]`;
}

function describeAuthor(found: StoredMessage | null, reacting: string): string {
  if (found === null) return 'a message';
  if (found.by === 'agent') return 'your message';
  return found.senderId === reacting
    ? 'their own message'
    : `the message of ${shortenQuote(found.senderName)}`;
}

function shortenQuote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= MAX_QUOTE) return line;
  return `${line.slice(0, MAX_QUOTE).toWellFormed()} …`;
}
