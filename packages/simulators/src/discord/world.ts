import { applyOptionalFields, type OptionalFieldMode } from '../optional-fields.ts';
import type { Command } from './command-form.ts';
import { NEVER_NULL, OPTIONAL_FIELDS } from './optional-fields.ts';
import { createNotFoundRefusal } from './request.ts';
import type { Transcript } from './transcript.ts';
import { isObject, type Json, type WireMessage, type WireUser } from './wire.ts';

/** The permission bits that the double checks. */
export const PERMISSION = {
  react: 1n << 6n,
  view: 1n << 10n,
  send: 1n << 11n,
  manageMessages: 1n << 13n,
  attach: 1n << 15n,
  history: 1n << 16n,
  pingEveryone: 1n << 17n,
  manageThreads: 1n << 34n,
  openThread: 1n << 35n,
  sendInThread: 1n << 38n,
  /**
   * The default permissions of an invited bot: embedding links and all permissions above, except
   * managing messages or threads and mentioning everyone.
   */
  usual:
    (1n << 6n) |
    (1n << 10n) |
    (1n << 11n) |
    (1n << 14n) |
    (1n << 15n) |
    (1n << 16n) |
    (1n << 35n) |
    (1n << 38n),
} as const;

export type PermissionName = Exclude<keyof typeof PERMISSION, 'usual'>;

/** The channel types that the double supports. */
export const CHANNEL_TYPE = {
  text: 0,
  dm: 1,
  voice: 2,
  groupDm: 3,
  category: 4,
  thread: 11,
  forum: 15,
} as const;

/** A channel, which may also be a direct chat, a thread or a forum post. */
export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly guildId?: string;
  /** The parent channel of a thread or forum post. */
  readonly parentId?: string;
  /** The person in a direct chat with the bot. */
  readonly recipient?: WireUser;
  /** The people in a private channel without the bot, which receives only their commands. */
  readonly people?: readonly WireUser[];
  readonly ownerId?: string;
  name: string;
  archived: boolean;
  locked: boolean;
  /** The permission bits denied to the bot in this channel. */
  denied: bigint;
  readonly messages: Map<string, WireMessage>;
}

/** A server with its members, roles and channels. */
export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  /** Nicknames by user id; null for members without one. */
  readonly members: Map<string, string | null>;
  /** Role names by id; @everyone has the id of the guild. */
  readonly roles: Map<string, string>;
  /** Members with the moderator role, who may delete other people's messages. */
  readonly moderators: Set<string>;
  readonly moderatorRoleId: string;
  /**
   * The role created with the bot and named after it; people sometimes mention this role instead of
   * the bot.
   */
  readonly botRoleId: string;
  /** The bot's guild permissions as bits. */
  permissions: bigint;
  available: boolean;
  /** Whether the bot is not a member because it was never invited or was removed. */
  left: boolean;
}

export interface WorldEvent {
  readonly name: string;
  readonly data: Json;
  readonly guildId?: string | undefined;
}

/** A stored file and the time at which its URL was signed. */
interface StoredFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly expiresAt: number;
}

/** The complete state of the servers, including people, guilds, channels, messages and files. */
export class World {
  readonly bot: WireUser;
  readonly clock: () => number;
  readonly ids: SnowflakeGenerator;
  readonly transcript: Transcript;
  readonly nonces: NonceRegistry;
  readonly users = new Map<string, WireUser>();
  readonly guilds = new Map<string, Guild>();
  readonly channels = new Map<string, Channel>();
  readonly files = new Map<string, StoredFile>();
  /** The users who reacted, by message id and emoji. */
  readonly reactors = new Map<string, Set<string>>();
  /** Slash commands keyed by guild id and then by name; global commands have no guild id. */
  readonly commands = new Map<string, Map<string, Command>>();
  /** People who refuse direct messages from the bot. */
  readonly closedToDms = new Set<string>();
  /** The base URL of files, set once the server listens. */
  fileBase = '';
  /** The form of optional fields: with a value, as null, or omitted. */
  optional: OptionalFieldMode = 'present';
  #listener: (event: WorldEvent) => void = () => {};

  constructor(clock: () => number, transcript: Transcript, botId: string) {
    this.clock = clock;
    this.nonces = new NonceRegistry(clock);
    this.ids = new SnowflakeGenerator(clock);
    this.transcript = transcript;
    this.bot = { ...createUser(botId), username: 'parley-test', bot: true };
    this.users.set(botId, this.bot);
  }

  onEvent(listener: (event: WorldEvent) => void): void {
    this.#listener = listener;
  }

  emit(name: string, data: Json, guildId?: string): void {
    this.#listener({ name, data, guildId });
    this.transcript.changes.changed();
  }

  /**
   * Converts a document to the form in which it is sent; `event` is the name of the gateway event.
   */
  asSent(document: unknown, event?: string | null): unknown {
    const sent = applyOptionalFields(this.optional, OPTIONAL_FIELDS, document, NEVER_NULL);
    if (event !== 'INTERACTION_CREATE' || !isObject(sent) || !isObject(document)) return sent;
    // Values that people chose or typed keep their optional fields, and an interaction in a guild
    // always includes the member.
    const { data, member } = document;
    return { ...sent, data, ...(member !== undefined && { member: this.asSent(member) }) };
  }

  /** Returns a user; creates unknown users. */
  user(id: string): WireUser {
    const user = this.users.get(id) ?? createUser(id);
    this.users.set(id, user);
    return user;
  }

  addGuild(name: string): Guild {
    const id = this.ids.next();
    const botRoleId = this.ids.next();
    const moderatorRoleId = this.ids.next();
    const guild: Guild = {
      id,
      name,
      ownerId: this.user(this.ids.next()).id,
      members: new Map([[this.bot.id, null]]),
      roles: new Map([
        [id, '@everyone'],
        [botRoleId, this.bot.username],
        [moderatorRoleId, 'Moderators'],
      ]),
      moderators: new Set(),
      moderatorRoleId,
      botRoleId,
      permissions: PERMISSION.usual,
      available: true,
      left: false,
    };
    guild.members.set(guild.ownerId, null);
    this.guilds.set(id, guild);
    return guild;
  }

  addChannel(
    fields: Omit<Channel, 'id' | 'messages' | 'archived' | 'locked' | 'denied'>,
    id = this.ids.next(),
  ): Channel {
    const channel: Channel = {
      ...fields,
      id,
      messages: new Map(),
      archived: false,
      locked: false,
      denied: 0n,
    };
    this.channels.set(id, channel);
    return channel;
  }

  /** Returns the direct chat with a person and creates it if necessary. */
  dmWith(userId: string): Channel {
    for (const channel of this.channels.values())
      if (channel.recipient?.id === userId) return channel;
    return this.addChannel({
      type: CHANNEL_TYPE.dm,
      name: '',
      recipient: this.user(userId),
    });
  }

  /** Creates a private channel for two or more people, without the bot. */
  openPrivate(people: readonly string[], name: string): Channel {
    return this.addChannel({
      type: people.length > 2 ? CHANNEL_TYPE.groupDm : CHANNEL_TYPE.dm,
      name,
      people: people.map((id) => this.user(id)),
    });
  }

  /** Returns the guild of a channel or event; undefined in direct messages. */
  guildOf({ guildId }: { readonly guildId?: string | undefined }): Guild | undefined {
    return guildId === undefined ? undefined : this.guilds.get(guildId);
  }

  /** @throws Refusal with code 10003 (unknown channel) */
  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (channel === undefined) throw createNotFoundRefusal('Channel');
    return channel;
  }

  /** @throws Refusal with code 10008 (unknown message) */
  message(channel: Channel, id: string): WireMessage {
    const message = channel.messages.get(id);
    if (message === undefined) throw createNotFoundRefusal('Message');
    return message;
  }
}

function createUser(id: string): WireUser {
  return {
    id,
    username: `user${id.slice(-4)}`,
    global_name: null,
    discriminator: '0',
    avatar: null,
  };
}

const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** Generates ids like Discord's: increasing, and containing the time. */
class SnowflakeGenerator {
  readonly #clock: () => number;
  #last = 0n;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  next(): string {
    const now = BigInt(Math.floor(this.#clock()) - DISCORD_EPOCH_MS) << 22n;
    this.#last = now > this.#last ? now : this.#last + 1n;
    return String(this.#last);
  }
}

/** Maps nonces to messages, so that a repeated nonce returns the same message. */
class NonceRegistry {
  readonly #clock: () => number;
  readonly #known = new Map<string, { readonly message: WireMessage; readonly at: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  remember(nonce: string | number | null | undefined, message: WireMessage): void {
    if (nonce === null || nonce === undefined) return;
    this.#known.set(String(nonce), { message, at: this.#clock() });
  }

  /** Returns the message with this nonce, if it was sent within `maxAgeMs`. */
  find(nonce: string | number | null | undefined, maxAgeMs: number): WireMessage | undefined {
    if (nonce === null || nonce === undefined) return undefined;
    const known = this.#known.get(String(nonce));
    return known !== undefined && this.#clock() - known.at < maxAgeMs ? known.message : undefined;
  }
}
