import { getConversationAgent, type InboundMessage, toAgentConversation } from '@parley/core';
import type { ChatKey, InboxRow, Store } from '@parley/store';
import { parseMessageCommand } from './commands/typed-command.ts';
import { getAgentRules } from './ingress/agent-route.ts';
import { decideAccess } from './ingress/decide.ts';
import { resolveConversation } from './ingress/route.ts';
import type { DecisionRules } from './ingress/rules.ts';
import {
  findOwnership,
  findSenderRights,
  type SenderRightsDeps,
  toPersonId,
} from './ingress/sender.ts';
import type { HistoryEntry } from './shown-chats.ts';

/** A direct chat in which an owner has written. */
export interface OwnerChat {
  /** The owner's last message there: its author, its chat, and the route of its answer. */
  readonly last: InboxRow;
  /** The conversation of the chat; linked accounts share one (F13). */
  readonly conversationId: string;
}

export interface OwnerChatDeps {
  readonly store: Pick<Store, 'inbox' | 'links'>;
  readonly owners: readonly string[];
  /** The agent whose owners and chats are looked up; the default agent when absent (F14). */
  readonly agentName?: string | undefined;
  /** Whether answers can be sent to the account, which requires that the settings contain it. */
  readonly serves: (channel: string, account: string) => boolean;
}

/**
 * The direct chats in which owners wrote recently, newest first: only those of current owners, and
 * only on accounts that can send.
 */
export async function* listOwnerChats({
  store,
  owners,
  agentName,
  serves,
}: OwnerChatDeps): AsyncGenerator<OwnerChat> {
  for (const last of await store.inbox.ownerChats()) {
    const { message } = last;
    // The newest message of a chat decides which agent the chat belongs to.
    if (getConversationAgent(last.conversationId) !== agentName) continue;
    if (message.chat.type !== 'direct' || !serves(message.channel, message.account)) continue;
    const rights = await findOwnership(store.links, owners, toPersonId(message));
    if (!rights.isOwner) continue;
    yield {
      last,
      conversationId: resolveConversation(message, rights.mainConversation, agentName),
    };
  }
}

/**
 * The most recent of these chats; with `person` (`telegram:42`), only of this owner. Null when no
 * such chat exists.
 */
export async function findOwnerChat(
  deps: OwnerChatDeps,
  person?: string,
): Promise<OwnerChat | null> {
  for await (const chat of listOwnerChats(deps)) {
    if (person === undefined || toPersonId(chat.last.message) === person) return chat;
  }
  return null;
}

/** A chat for which the settings define a name. */
export interface NamedChat {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly thread?: string | undefined;
}

export interface NamedChatDeps {
  readonly store: Pick<Store, 'inbox'>;
  /** The agent that will write in the chat; the default agent when absent (F14). */
  readonly agentName?: string | undefined;
  /** Whether answers can be sent to the account, which requires that the settings contain it. */
  readonly serves: (channel: string, account: string) => boolean;
}

/**
 * The last message from the chat, with `inThread` if it is from the named thread; or the reason why
 * no message was found.
 */
export type FoundNamedChat =
  | { readonly kind: 'found'; readonly last: InboxRow; readonly inThread: boolean }
  | { readonly kind: 'none'; readonly reason: string };

/** The number of recent messages that are searched for a message from the thread. */
const RECENT_MESSAGES = 50;

/**
 * Finds the last message of a named chat. The route and kind of the chat come from that message, so
 * that nothing is sent to a chat in which no person has written (F11).
 */
export async function findNamedChat(
  { store, agentName, serves }: NamedChatDeps,
  name: string,
  { channel, account, chat, thread }: NamedChat,
): Promise<FoundNamedChat> {
  if (!serves(channel, account)) {
    const reason = `${name} cannot be reached: ${channel} (${account}) is not connected here.`;
    return { kind: 'none', reason };
  }
  const rows = await store.inbox.recent({ channel, account, chatId: chat }, RECENT_MESSAGES);
  const ofThread = rows.findLast(({ message }) => message.chat.threadId === thread);
  const last = ofThread ?? rows.at(-1);
  if (last === undefined) {
    const reason = `${name} cannot be reached yet: I have received no message there.`;
    return { kind: 'none', reason };
  }
  // Another agent may have answered in the chat; this agent has its own conversation.
  const conversationId = toAgentConversation(agentName, last.conversationId);
  return { kind: 'found', last: { ...last, conversationId }, inThread: ofThread !== undefined };
}

/** The current rights of a person who wrote in the past. */
export interface CurrentSender {
  readonly isOwner: boolean;
  /** The conversation that the person's message would belong to now. */
  readonly conversationId: string;
  /** Why the person may no longer write there; null if they may. */
  readonly refusal: string | null;
}

/** The services for looking up a sender, and the rules of the account that received the message. */
export interface CurrentSenderDeps {
  readonly store: SenderRightsDeps['store'];
  readonly rules: DecisionRules;
}

/**
 * Looks up the sender of a message before an agent acts on the message again: owners, links and
 * access may have changed since (W02, F05). Rejects when the database does not answer.
 */
export async function findCurrentSender(
  { store, rules: every }: CurrentSenderDeps,
  message: InboundMessage,
  agent: string | undefined,
): Promise<CurrentSender> {
  const rules = getAgentRules(every, agent);
  if (rules === undefined) {
    const conversationId = resolveConversation(message, null, agent);
    return { isOwner: false, conversationId, refusal: 'the settings have no such agent' };
  }
  const rights = await findSenderRights(
    { store, rules },
    message,
    parseMessageCommand(message) !== null,
  );
  const access = decideAccess(message, rules.policy, rights);
  const { isOwner } = await findOwnership(store.links, rules.owners, toPersonId(message));
  return {
    isOwner,
    conversationId: resolveConversation(message, rights.mainConversation, agent),
    refusal: access.kind === 'refused' ? access.reason : null,
  };
}

/**
 * Builds a chat's history from received messages and sent parts: the durable rows are the history.
 * Parley's own startup messages are omitted.
 */
export async function readChatHistory(
  store: Pick<Store, 'inbox' | 'outbox' | 'attachments'>,
  chat: ChatKey,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const [inbound, outbound] = await Promise.all([
    store.inbox.recent(chat, limit),
    store.outbox.recent(chat, limit),
  ]);
  const sent = inbound.filter(({ message }) => message.attachments !== undefined);
  const files = await store.attachments.ofMessages(sent.map(({ seq }) => seq));
  const entries: HistoryEntry[] = [
    ...inbound
      .filter(({ message }) => message.trigger === undefined)
      .map(({ message, seq, receivedAt: at, outcome, turnId, isRewound }): HistoryEntry => {
        const { messageId, typed, text } = message;
        if (outcome === 'replaced') return { kind: 'replaced', id: messageId, at };
        const sentAlong = files.filter(({ messageSeq }) => messageSeq === seq);
        const said = { messageId, text: typed ?? text, files: sentAlong };
        return { kind: 'inbound', ...said, at, outcome, turnId, ...(isRewound && { isRewound }) };
      }),
    ...outbound
      .filter(({ part }) => part.act === undefined)
      .map(({ part, createdAt: at, answers, isReplaced, isRewound }): HistoryEntry => {
        const { id, turnId, body, buttons, file } = part;
        if (isReplaced) return { kind: 'replaced', id, at };
        const asked = inbound.find(({ seq }) => seq === answers)?.message.messageId;
        const of = { turnId, ...(asked !== undefined && { answers: asked }) };
        const more = { ...(buttons && { buttons }), ...(file && { file }) };
        const state = { at, ...(isRewound && { isRewound }) };
        return { kind: 'outbound', partId: id, ...of, body, ...more, ...state };
      }),
  ];
  // The sort is stable, so a question stored in the same millisecond as its answer stays above the
  // answer.
  return entries.sort((a, b) => a.at - b.at).slice(-limit);
}
