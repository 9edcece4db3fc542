import { hash } from 'node:crypto';
import { type ReplyRoute, stripNoncharacters, toLiteralLine } from '@parley/core';
import { quoteUntrusted } from '@parley/prompt';
import type { DeadLetterWake, InboxRow, Store, TranscriptEntry } from '@parley/store';
import { createEmptyTurnMedia } from '../media/turn-media.ts';
import { renderParts } from '../post-message.ts';
import { createTextEntry, joinMessageTexts } from '../turn/turn-text.ts';

/** A message that a person writes into a chat from the web page (U12). */
export interface NewPersonReply {
  readonly conversationId: string;
  /** Markdown. */
  readonly text: string;
  /**
   * With `self`, the message begins with the person's name, because the platform shows the bot as
   * the sender.
   */
  readonly as: 'agent' | 'self';
  /** Repeated requests with this id create one reply per conversation. */
  readonly requestId: string;
  /**
   * The number of the newest message that the person has seen. If absent, the reply answers all
   * waiting messages.
   */
  readonly seen?: number | undefined;
}

export interface ReplyingPerson {
  /** The name of the person who replies, shown in the chat and in the history. */
  readonly name: string;
}

interface ReplyDeps {
  readonly store: Pick<Store, 'takeovers'>;
  wake(wake: DeadLetterWake): Promise<void>;
}

/** `no-chat`: no person reads the conversation. `empty`: the text has no visible part. */
export type PersonReplyResult =
  | { readonly kind: 'stored' | 'known'; readonly turnId: string; readonly answered: number }
  | { readonly kind: 'no-conversation' | 'no-chat' | 'empty' };

/** The channel of API clients, which receive only the answer to their request. */
const PROGRAMS = 'api';

/** Whether a person reads this chat. */
export function isReadByPeople({ channel }: Pick<ReplyRoute, 'channel'>): boolean {
  return channel !== PROGRAMS;
}

/** Stores a reply and its history entry, once per request, and wakes delivery. */
export async function sendPersonReply(
  { store, wake }: ReplyDeps,
  { requestId, text, ...reply }: NewPersonReply,
  { name }: ReplyingPerson,
): Promise<PersonReplyResult> {
  const { conversationId, as } = reply;
  const found = await store.takeovers.newestRoute(conversationId);
  if (found === null) return { kind: 'no-conversation' };
  if (!isReadByPeople(found)) return { kind: 'no-chat' };
  // The reply does not answer a particular message, so it does not quote one.
  const { replyToMessageId: _quoted, response: _response, ...route } = found;
  const parts =
    text.trim() === ''
      ? []
      : await renderParts(formatReply(stripNoncharacters(text), as, name), route);
  if (parts.length === 0) return { kind: 'empty' };
  const stored = await store.takeovers.reply({
    ...reply,
    by: name,
    requestKey: hash('sha256', JSON.stringify([conversationId, requestId]), 'base64url'),
    parts,
    entries: (answered) => createReplyEntries(answered, { text, as, name }),
  });
  if (stored === null) return { kind: 'no-conversation' };
  // Delivery is also woken for a reply that is already stored, because the process that stored it
  // may have died before waking delivery.
  await wake({ kind: 'chat', chat: route });
  const answered = stored.kind === 'stored' ? stored.answered : 0;
  return { kind: stored.kind, turnId: stored.turnId, answered };
}

/** Matches the start of a Markdown block, which must be at the beginning of its line. */
const BLOCK = /^\s*(?:[-*+>#|~`]|\d+[.)]\s|!?\[|\$\$|\t| {4})/;

/** The text to show in the chat. */
export function formatReply(text: string, as: NewPersonReply['as'], name: string): string {
  if (as === 'agent') return text;
  const whose = `**${toLiteralLine(name)}:**`;
  return BLOCK.test(text) ? `${whose}\n\n${text}` : `${whose} ${text}`;
}

/**
 * The history entry: the messages that the person answered, and the reply as the person's words,
 * with each line quoted so that none looks like text from Parley.
 */
export function createReplyEntries(
  answered: readonly InboxRow[],
  { text, as, name }: Pick<NewPersonReply, 'text' | 'as'> & ReplyingPerson,
): readonly TranscriptEntry[] {
  const who = quoteUntrusted(name, NAME_CHARACTERS);
  const how =
    as === 'self'
      ? `${who}, an owner, wrote this here under their own name`
      : `${who}, an owner, wrote this here in your name, so that people take it for your words`;
  const quoted = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${line}`);
  const reply = createTextEntry('user', `⚙️ ${how}:\n${quoted.join('\n')}`);
  if (answered.length === 0) return [reply];
  return [
    createTextEntry('user', joinMessageTexts(answered, createEmptyTurnMedia().forHistory)),
    reply,
  ];
}

/** The maximum length of a name in the history, in characters. */
const NAME_CHARACTERS = 80;
