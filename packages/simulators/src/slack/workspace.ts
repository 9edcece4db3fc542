import { applyOptionalFields, type OptionalFieldMode } from '../optional-fields.ts';
import type { FileStore } from './file-store.ts';
import { OPTIONAL_FIELDS } from './optional-fields.ts';
import type { RateLimits } from './rate-limits.ts';
import { createRefusal } from './request.ts';
import type { DisplayNames } from './rich-text.ts';
import type { Transcript } from './transcript.ts';
import type { Json, WireMessage } from './wire.ts';

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly teamId: string;
  readonly isBot: boolean;
  /** Whether the person is a guest, limited to one or more channels. */
  readonly isGuest: boolean;
  readonly isAdmin: boolean;
  isDeactivated: boolean;
}

export type ChannelKind = 'public' | 'private' | 'group-dm' | 'dm';

/** A message with the double's own metadata. */
export interface StoredMessage {
  wire: WireMessage;
  /** A number that increases over all channels in the order the messages appeared. */
  readonly seq: number;
  readonly at: number;
  edits: number;
  /** The only person who can see the message. */
  readonly onlyFor?: string;
  /** Whether the bot posted the message with blocks. */
  hasOwnBlocks?: boolean;
  /** Set while the message is being streamed; `markdown` is the Markdown received so far. */
  isGrowing?: boolean;
  markdown?: string;
}

export interface Channel {
  readonly id: string;
  readonly kind: ChannelKind;
  name: string;
  readonly members: Set<string>;
  /** The id of the workspace that shares the conversation through Slack Connect. */
  readonly sharedWith: string | undefined;
  isArchived: boolean;
  /** Messages by `ts`, oldest first, excluding deleted messages. */
  readonly messages: Map<string, StoredMessage>;
  readonly ephemeral: Map<string, StoredMessage>;
}

/** A form or a home page that the bot shows to a person. */
export interface View {
  readonly id: string;
  readonly user: string;
  content: Json;
}

export interface SlackApp {
  readonly id: string;
  readonly botId: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  /** The deprecated verification token, included in every payload. */
  readonly verificationToken: string;
  /** Whether the app was removed from the workspace, which invalidates its tokens. */
  isUninstalled: boolean;
}

/** The state of the servers, consisting of one workspace with one app. */
export interface Workspace {
  readonly team: { readonly id: string; readonly name: string; readonly domain: string };
  readonly app: SlackApp;
  readonly bot: Member;
  readonly members: Map<string, Member>;
  readonly channels: Map<string, Channel>;
  readonly files: FileStore;
  readonly transcript: Transcript;
  readonly limits: RateLimits;
  /** The status below a thread (`assistant.threads.setStatus`), by channel and `ts`. */
  readonly statuses: Map<string, string>;
  /** Forms and home pages that people see, by id. */
  readonly views: Map<string, View>;
  readonly clock: () => number;
  readonly ids: IdSequence;
  /** The form of optional fields: with a value, as null, or omitted. */
  readonly optional: OptionalFieldMode;
  /** The address of the double, without a slash at the end. */
  origin: string;
}

export class IdSequence {
  readonly #clock: () => number;
  #last = 0;
  #number = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Returns a new unique `ts` (seconds and six digits), later than all previous ones. */
  ts(): string {
    this.#last = Math.max(Math.floor(this.#clock()) * 1_000, this.#last + 1);
    return formatTs(this.#last);
  }

  /** Returns a new id with the given prefix, such as `C0DBL00007`. */
  next(letter: string): string {
    this.#number += 1;
    return `${letter}0DBL${String(this.#number).padStart(5, '0')}`;
  }
}

function formatTs(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  return `${seconds}.${String(micros % 1_000_000).padStart(6, '0')}`;
}

export function createDisplayNames({ members, channels }: Workspace): DisplayNames {
  return {
    user: (id) => members.get(id)?.name ?? id,
    channel: (id) => channels.get(id)?.name ?? id,
  };
}

/**
 * Finds the conversation of a call.
 * @throws Refusal when the conversation does not exist or is hidden from the bot
 */
export function findChannel(workspace: Workspace, id: string | undefined): Channel {
  const channel = workspace.channels.get(id ?? '');
  if (channel === undefined) throw createRefusal('channel_not_found');
  const isHidden = channel.kind !== 'public' && !channel.members.has(workspace.bot.id);
  if (isHidden) throw createRefusal('channel_not_found');
  return channel;
}

/**
 * Finds the conversation of a call that writes; a person's id refers to their direct chat.
 * @throws Refusal when the bot cannot write in the conversation
 */
export function findWritableChannel(workspace: Workspace, id: string | undefined): Channel {
  const person = workspace.members.get(id ?? '');
  const channel =
    person === undefined ? findChannel(workspace, id) : openDirectChat(workspace, person.id);
  if (!channel.members.has(workspace.bot.id)) throw createRefusal('not_in_channel');
  if (channel.isArchived) throw createRefusal('is_archived');
  return channel;
}

/** Returns the direct chat with a person and opens it if necessary. */
export function openDirectChat(workspace: Workspace, person: string): Channel {
  if (workspace.members.get(person)?.isBot === true) throw createRefusal('cannot_dm_bot');
  for (const channel of workspace.channels.values())
    if (channel.kind === 'dm' && channel.members.has(person)) return channel;
  return addChannel(workspace, { kind: 'dm', name: person, members: [person] });
}

/** A person or another bot to be added. */
export interface NewMember {
  readonly name: string;
  /** The id of another workspace, for a person connected through Slack Connect. */
  readonly teamId?: string | undefined;
  readonly isBot?: boolean | undefined;
  readonly isGuest?: boolean | undefined;
  readonly isAdmin?: boolean | undefined;
}

export function addMember(
  { ids, team, members }: Workspace,
  { name, teamId = team.id, isBot = false, isGuest = false, isAdmin = false }: NewMember,
): Member {
  const id = ids.next('U');
  const member = { id, name, teamId, isBot, isGuest, isAdmin, isDeactivated: false };
  members.set(id, member);
  return member;
}

/** A channel to be created, with the bot as a member. */
export interface NewChannel {
  readonly kind: ChannelKind;
  readonly name: string;
  readonly members: readonly string[];
  readonly sharedWith?: string | undefined;
}

export function addChannel(workspace: Workspace, wish: NewChannel): Channel {
  const channel: Channel = {
    id: workspace.ids.next(wish.kind === 'dm' ? 'D' : 'C'),
    kind: wish.kind,
    name: wish.name,
    members: new Set([...wish.members, workspace.bot.id]),
    sharedWith: wish.sharedWith,
    isArchived: false,
    messages: new Map(),
    ephemeral: new Map(),
  };
  workspace.channels.set(channel.id, channel);
  return channel;
}

export function storeMessage(
  workspace: Workspace,
  channel: Channel,
  wire: WireMessage,
  more: { readonly onlyFor?: string; readonly isGrowing?: boolean } = {},
): StoredMessage {
  const stored = {
    ...{ wire, seq: workspace.transcript.nextSeq(), at: workspace.clock(), edits: 0 },
    ...more,
  };
  const place = more.onlyFor === undefined ? channel.messages : channel.ephemeral;
  place.set(wire.ts, stored);
  workspace.transcript.changes.changed();
  return stored;
}

/** Applies the setting for optional fields to a document. */
export function applyOptionalFieldMode<T extends Json>({ optional }: Workspace, document: T): T {
  // The function only omits fields or sets them to null, which their types allow.
  return applyOptionalFields(optional, OPTIONAL_FIELDS, document) as T;
}

/** Returns the kind of a conversation in the form used in events. */
export function getChannelType({ kind }: Channel): string {
  return { public: 'channel', private: 'group', 'group-dm': 'mpim', dm: 'im' }[kind];
}

export function toThreadKey(channel: string, ts: string): string {
  return `${channel} ${ts}`;
}

/** Returns the reply counts, which only the first message of a thread has. */
export function getThreadFields(channel: Channel, ts: string): Json {
  const replies = [...channel.messages.values()].filter(
    ({ wire }) => wire.thread_ts === ts && wire.ts !== ts,
  );
  if (replies.length === 0) return {};
  const users = [...new Set(replies.flatMap(({ wire }) => wire.user ?? []))];
  return {
    thread_ts: ts,
    reply_count: replies.length,
    reply_users: users,
    reply_users_count: users.length,
    latest_reply: replies.at(-1)?.wire.ts,
  };
}
