import { basename } from 'node:path';
import type {
  Audience,
  Clock,
  Reader,
  ReplyRoute,
  ResponseFormat,
  RuntimeFacts,
} from '@parley/core';
import type { IdentitySource, TurnLimitsNote } from '@parley/prompt';
import type { ClaimedTurn, InboxRow, SpendAccount } from '@parley/store';
import { resolveReader, type Workspace } from '@parley/workspace';
import { listStartMessages } from '../loop/turn-journal.ts';
import type { LocalTime } from '../time.ts';

/**
 * The purpose of a turn. A chat turn answers people; all other turns work in a separate lane on
 * behalf of a chat.
 */
export type TurnPurpose =
  | { readonly kind: 'chat' }
  /** `target` is the conversation that receives the alerts. */
  | { readonly kind: 'heartbeat'; readonly target: string; readonly origin: TurnOrigin }
  /**
   * `parent` is the conversation that delegated the task; `forOwner` says whether its turn answered
   * an owner.
   */
  | {
      readonly kind: 'sub-agent';
      readonly parent: string;
      readonly forOwner: boolean;
      readonly origin: TurnOrigin;
    };

export const CHAT: TurnPurpose = { kind: 'chat' };

/**
 * The origin of a turn whose messages come from Parley: a task from the owner, or from another
 * turn.
 */
export interface TurnOrigin {
  readonly said: readonly string[];
  /** Whether the originating turn had read text from outsiders. */
  readonly untrustedText: boolean;
}

/**
 * A turn as data, computed once from its claimed rows and the time, without I/O. `messages` are the
 * messages it started with; messages that joined later are in its journal.
 */
export interface Turn extends Omit<ClaimedTurn, 'steps'> {
  readonly purpose: TurnPurpose;
  /** The newest message that the turn answers. The newest message determines the runtime facts. */
  readonly lead: InboxRow;
  /** The route of the answer. */
  readonly route: ReplyRoute;
  readonly reader: Reader;
  /**
   * The runtime facts (F02). The facts do not include the agent's name, which is read from the
   * workspace when the turn is opened.
   */
  readonly facts: Omit<RuntimeFacts, 'agent'>;
  /** The JSON format that the answer must have; undefined if people read the answer. */
  readonly format: ResponseFormat | undefined;
  /**
   * The account that pays for the turn (G17): the sender of its newest message, in their group, on
   * the agent’s day.
   */
  readonly account: SpendAccount;
  /** Whether an owner wrote all messages of the turn. */
  readonly byOwner: boolean;
}

/** The properties of an agent that all its turns share. */
export interface AgentProfile {
  readonly id: string;
  /** The prefix of the agent's conversation ids (F14); absent for the default agent. */
  readonly name?: string | undefined;
  /** Name, role and emoji from the settings; IDENTITY.md fills in the rest (W05). */
  readonly identity: IdentitySource;
  readonly workspace: string;
  /** The IANA time zone, for example `Europe/Berlin`. */
  readonly timeZone: string;
  readonly localTime: LocalTime;
  /** The clock in the system prompt is rounded down to this many minutes. */
  readonly clockMinutes: number;
  /** The JSON format for answers to people and jobs that do not request another format. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** The limits of a turn that answers people, as stated in its prompt. */
  readonly turnLimits?: TurnLimitsNote | undefined;
}

/** The agent and the people it belongs to. */
export interface AgentContext {
  readonly workspace: Workspace;
  readonly agent: AgentProfile;
  readonly owners: readonly string[];
  readonly clock: Clock;
}

/**
 * Computes the turn for claimed rows. `at` is the moment when the turn starts or resumes, in ms.
 */
export function startTurn(
  { steps, ...claimed }: ClaimedTurn,
  purpose: TurnPurpose,
  { agent, owners }: Pick<AgentContext, 'agent' | 'owners'>,
  at: number,
): Turn {
  const started = listStartMessages(claimed.messages, steps);
  const messages = purpose.kind === 'chat' ? started : started.map(applyRouteChat);
  const lead = messages.at(-1);
  if (lead === undefined)
    throw new Error(`Turn ${claimed.turnId} has no messages; the store never claims such a turn.`);
  const { message, route } = lead;
  const reader = decideReader(purpose, { ...claimed, messages }, owners);
  const facts = createTurnFacts(lead, agent, reader, at);
  const { channel, account, groupId } = facts;
  return {
    ...claimed,
    ...{ purpose, messages, lead, route, reader, facts },
    format: message.responseFormat ?? (expectsAnswer(lead) ? agent.responseFormat : undefined),
    account: {
      day: facts.date,
      personId: facts.user.id,
      groupId: groupId === undefined ? null : `${channel}:${account}:${groupId}`,
      ...(agent.name !== undefined && { agent: agent.name }),
    },
    byOwner: isLinkedOwner(messages) || owners.includes(facts.user.id),
  };
}

/**
 * The agent's format applies only to answers to people and jobs, not to heartbeats, sub-agents and
 * the turn after a start.
 */
function expectsAnswer({ message: { trigger } }: InboxRow): boolean {
  return trigger === undefined || trigger === 'cron';
}

/** A lane works for the chat of its route, so facts, format and privacy come from there. */
function applyRouteChat(row: InboxRow): InboxRow {
  const { message, route } = row;
  const isTask = message.trigger === 'heartbeat';
  const chat = { ...message.chat, id: route.chatId };
  // A heartbeat's variables contain its task, which is part of a separate prompt layer.
  return { ...row, message: { ...message, chat, ...(isTask && { variables: {} }) } };
}

/**
 * Decides for whom a turn runs and therefore what it may read (W02); this is the only function that
 * decides it. A heartbeat never sees more than the readers of its alerts, and a sub-agent never
 * more than the turn that started it.
 */
export function decideReader(
  purpose: TurnPurpose,
  { messages, conversationId }: Pick<ClaimedTurn, 'messages' | 'conversationId'>,
  owners: readonly string[],
): Reader {
  const lead = messages.at(-1);
  if (lead === undefined) return { kind: 'guest', conversationId };
  const { chat } = lead.message;
  const user = { id: toSenderId(lead) };
  // An owner may have linked this account (F13).
  const known = isLinkedOwner(messages) ? [...owners, user.id] : owners;
  const facts = { user, chatType: chat.type, deliversElsewhere: deliversElsewhere(messages) };
  const { kind } = resolveReader(facts, known, conversationId);
  switch (purpose.kind) {
    case 'chat':
      return { kind, conversationId };
    case 'heartbeat': {
      // A route into a group makes every reader a guest, regardless of the sender.
      const isDirect = chat.type === 'direct' && (lead.route.chatType ?? 'direct') === 'direct';
      return { kind: isDirect ? kind : 'guest', conversationId: purpose.target };
    }
    case 'sub-agent':
      return { kind: purpose.forOwner ? kind : 'guest', conversationId: purpose.parent };
  }
}

/**
 * The audience for text that was shown to this reader or derived from such text: only the reader.
 */
export function getAudience({ kind, conversationId }: Reader): Audience {
  return kind === 'owner' ? { kind } : { kind: 'conversation', conversationId };
}

/** Ingress sets `fromOwner` for accounts that an owner linked (F13). */
function isLinkedOwner(messages: readonly InboxRow[]): boolean {
  return messages.every(({ fromOwner }) => fromOwner === true);
}

/** The sender's id in Parley, such as `telegram:42`. */
export function toSenderId({ message: { channel, sender } }: InboxRow): string {
  return `${channel}:${sender.id}`;
}

/** A job may carry an owner's question into a group, where other people read the answer (W02). */
export function deliversElsewhere(messages: readonly InboxRow[]): boolean {
  return messages.some(
    ({ message, route }) =>
      route.channel !== message.channel ||
      route.account !== message.account ||
      route.chatId !== message.chat.id,
  );
}

function createTurnFacts(
  lead: InboxRow,
  agent: AgentProfile,
  reader: Reader,
  at: number,
): Turn['facts'] {
  const { channel, account, chat, sender, replyTo, ...message } = lead.message;
  return {
    user: { id: toSenderId(lead), name: sender.name },
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
    ...agent.localTime(at),
    timeZone: agent.timeZone,
    // Guests must not see the operator's folders.
    workspace: reader.kind === 'owner' ? agent.workspace : basename(agent.workspace),
    heartbeat: message.trigger === 'heartbeat',
    variables: message.variables,
  };
}
