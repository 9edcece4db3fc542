import { basename } from 'node:path';
import type { Clock, Reader, ResponseFormat, RuntimeFacts } from '@parley/core';
import {
  type Identity,
  type IdentitySource,
  quoteUntrusted,
  readIdentity,
  type TurnLimitsNote,
} from '@parley/prompt';
import type { ClaimedTurn, InboxRow, TranscriptEntry } from '@parley/store';
import { readerOf, type Workspace } from '@parley/workspace';
import type { QuotableMessages } from './answer/visible-text.ts';
import type { LocalTime } from './time.ts';
import type { TurnOpening } from './turn-hooks.ts';

/** The agent and the people it belongs to. */
export interface AgentContext {
  readonly workspace: Workspace;
  readonly agent: AgentPlace;
  readonly owners: readonly string[];
  readonly clock: Clock;
}

/** For whom a turn runs; decides what its prompt may hold and what a failure notice says (W02). */
export function turnReader(turn: ClaimedTurn, deps: Omit<AgentContext, 'workspace'>): Reader {
  const facts = {
    ...turnFacts(turn, deps.agent, deps.clock()),
    deliversElsewhere: deliversElsewhere(turn),
  };
  return readerOf(facts, ownersOf(turn, facts.user.id, deps.owners), turn.conversationId);
}

/** A job may carry an owner's question into a group, where others read the answer (W02). */
export function deliversElsewhere({ messages }: ClaimedTurn): boolean {
  return messages.some(
    ({ message, route }) =>
      route.channel !== message.channel ||
      route.account !== message.account ||
      route.chatId !== message.chat.id,
  );
}

/** Ingress sets `fromOwner` for accounts that an owner linked (F13). */
function ownersOf(turn: ClaimedTurn, person: string, named: readonly string[]): readonly string[] {
  const isOwners = turn.messages.every(({ fromOwner }) => fromOwner === true);
  return isOwners ? [...named, person] : named;
}

export interface OpenedTurn extends TurnOpening {
  readonly identity: Identity;
  /** Set for a turn that no person started. */
  readonly origin?: TurnOrigin;
}

/** Decides for whom a turn runs, where, and the name of the agent there. */
export async function openTurn(
  turn: ClaimedTurn,
  text: string,
  deps: AgentContext,
  reader = turnReader(turn, deps),
): Promise<OpenedTurn> {
  const view = deps.workspace.for(reader);
  const identity = await readIdentity(view, { agent: deps.agent.identity });
  const agent = { id: deps.agent.id, name: identity.name };
  const { workspace, ...known } = turnFacts(turn, deps.agent, deps.clock());
  // Guests must not see the operator's folders.
  const folder = reader.kind === 'owner' ? workspace : basename(workspace);
  const facts = { ...known, workspace: folder, agent };
  const messages = turn.messages.map(({ message }) => message);
  return { facts, reader, view, identity, text, messages };
}

/** The origin of a turn whose messages are Parley’s own: a task of the owner, or of another turn. */
export interface TurnOrigin {
  readonly said: readonly string[];
  /** The turn that it comes from had read text of outsiders. */
  readonly untrustedText: boolean;
}

/** The same for every turn. */
export interface AgentPlace {
  readonly id: string;
  /** As in the ids of its conversations (F14); absent: the default agent. */
  readonly name?: string | undefined;
  /** Name and the like from the settings; IDENTITY.md fills in the rest (W05). */
  readonly identity: IdentitySource;
  readonly workspace: string;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string;
  readonly localTime: LocalTime;
  /** The clock of the system prompt is rounded down to so many minutes. */
  readonly clockMinutes: number;
  /** The JSON that it answers people and jobs with, where they say nothing else. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** What a turn that answers people may use at most, for its prompt. */
  readonly turnLimits?: TurnLimitsNote | undefined;
}

/**
 * The JSON that the answer of a turn must be; undefined where people read it. The setting is for answers: a heartbeat
 * run, a sub-agent and the turn after a start have none.
 */
export function responseFormatOf(
  turn: ClaimedTurn,
  { responseFormat }: Pick<AgentPlace, 'responseFormat'>,
): ResponseFormat | undefined {
  const { message } = leadingMessage(turn);
  const isAnswer = message.trigger === undefined || message.trigger === 'cron';
  return message.responseFormat ?? (isAnswer ? responseFormat : undefined);
}

/** The newest message that a turn answers; it decides the turn's facts. */
export function leadingMessage(turn: ClaimedTurn): InboxRow {
  const leading = turn.messages.at(-1);
  if (!leading)
    throw new Error(`Turn ${turn.turnId} has no messages; claim never makes such a turn.`);
  return leading;
}

/** The runtime facts of a turn (F02). `now` is in ms. */
export function turnFacts(
  turn: ClaimedTurn,
  agent: AgentPlace,
  now: number,
): Omit<RuntimeFacts, 'agent'> {
  const { message } = leadingMessage(turn);
  const { channel, account, chat, sender, replyTo } = message;
  return {
    user: { id: `${channel}:${sender.id}`, name: sender.name },
    channel,
    account,
    channelUserId: sender.id,
    chatType: chat.type,
    ...(chat.type === 'direct' ? {} : { groupId: chat.id }),
    ...(chat.title === undefined ? {} : { groupTitle: chat.title }),
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    messageId: message.messageId,
    ...(replyTo === undefined ? {} : { replyToMessageId: replyTo.messageId }),
    mentions: message.mentions,
    addressed: message.addressed,
    ...agent.localTime(now),
    timeZone: agent.timeZone,
    workspace: agent.workspace,
    heartbeat: message.trigger === 'heartbeat',
    variables: message.variables,
  };
}

/** Of a sender's name before their text. */
const NAME_CHARACTERS = 80;

/**
 * The messages of one turn as one text; in groups each names its sender, quoted as data (P18).
 * `attached`: the attachments of a message as text, before its own.
 */
export function textOf(
  messages: readonly InboxRow[],
  attached: (row: InboxRow) => readonly string[],
): string {
  return messages
    .map((row) => {
      const { message } = row;
      // Parley's own messages name no sender.
      const isDirect = message.chat.type === 'direct' || message.trigger !== undefined;
      const text = withoutTagCharacters(message.text);
      const written = isDirect ? text : withoutForgedSenders(text);
      const parts = [...attached(row).map(withoutTagCharacters), written];
      const whole = parts.filter((part) => part !== '').join('\n\n');
      return isDirect
        ? whole
        : `From ${quoteUntrusted(message.sender.name, NAME_CHARACTERS)}: ${whole}`;
    })
    .join('\n\n');
}

/** Quotes each line that looks like the start of another person's message (P18). */
function withoutForgedSenders(text: string): string {
  return text.replace(/^(?=[^\S\n]*From ["“„«])/gim, '> ');
}

export function spoken(role: 'user' | 'assistant', text: string): TranscriptEntry {
  return { role, content: { text } };
}

/** Tag characters; flags of regions, such as Scotland's, are written with them. */
const FLAG_OR_TAG =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|[\u{e0000}-\u{e007f}]/gu;

/** Tag characters are invisible to people but not to a model, so they could carry instructions (P18). */
function withoutTagCharacters(text: string): string {
  return text.replace(FLAG_OR_TAG, (found) => (found.startsWith('\u{1f3f4}') ? found : ''));
}

/**
 * The messages that the answer of a turn may quote: those it answers (`joined`: later ones) and those that they quote, of the
 * chat it goes to. None where the platform cannot show it. Ids of other chats would name other messages.
 */
export function quotableIn(turn: ClaimedTurn, joined: readonly InboxRow[] = []): QuotableMessages {
  const leading = leadingMessage(turn);
  const { route } = leading;
  if (route.quotes !== true) return { known: new Set() };
  const ofChat = [...turn.messages, ...joined].filter((row) => isSaidWhere(row, leading));
  const known = ofChat.flatMap(({ message: { messageId, replyTo } }) =>
    replyTo === undefined ? [messageId] : [messageId, replyTo.messageId],
  );
  const heard = turn.groupContext.map(({ messageId }) => messageId);
  const isShown = isSaidWhere(leading, leading);
  return {
    ...(isShown && { current: leading.message.messageId }),
    known: new Set([...known, ...(isShown ? heard : [])]),
  };
}

/** What Parley said to the agent itself was never shown in a chat. */
function isSaidWhere({ message }: InboxRow, { route }: InboxRow): boolean {
  const { channel, account, chat, trigger } = message;
  return (
    trigger === undefined &&
    channel === route.channel &&
    account === route.account &&
    chat.id === route.chatId
  );
}
