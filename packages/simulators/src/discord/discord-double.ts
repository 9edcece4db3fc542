import type { OptionalFieldMode } from '../optional-fields.ts';
import type { Fault } from './faults.ts';
import type { ComponentPress, FormSubmission, SlashCommandUse } from './interacting.ts';
import type { PersonMessage, PersonReaction, startThread } from './people.ts';
import type { RateLimits } from './rate-limits.ts';
import type { RecordedCall, SentMessage, Transcript, VisibleMessage } from './transcript.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import type { PermissionName } from './world.ts';

/** The options of a double; all of them have defaults. */
export interface DiscordDoubleOptions {
  /** The loopback port; a free port when absent. */
  readonly port?: number;
  /**
   * Limits of the REST interface; generous when absent. Pass `REAL_LIMITS` for an approximation of
   * Discord's own limits.
   */
  readonly limits?: RateLimits;
  /** Bits of the privileged intents enabled in the portal; all when absent. */
  readonly portalIntents?: number;
  /** How Discord's optional fields are sent; they are included with their values when absent. */
  readonly optional?: OptionalFieldMode;
  /** The heartbeat interval, in ms; 41,250 when absent, as on Discord's servers. */
  readonly heartbeatMs?: number;
  /** The number of session starts left; 1,000 when absent. */
  readonly sessionStarts?: number;
  /** The bot's avatar; none when absent. */
  readonly picture?: Uint8Array;
  /**
   * The double's clock; returns the time in ms since 1970. The clock determines ids, dates and
   * limits, but not the delays caused by faults.
   */
  readonly clock?: () => number;
}

/** A running double: the address of its API, and the controls for tests. */
export interface DiscordDouble {
  /** The API root for `rest: { api }`; the client adds `/v10`. */
  readonly apiRoot: string;
  readonly token: string;
  readonly me: WireUser;
  /** A guild with one text channel that exists from the start. */
  readonly guildId: string;
  readonly channelId: string;
  /** The role with the bot's name in the first guild. */
  readonly botRoleId: string;
  /** The moderators' role in the first guild. */
  readonly moderatorRoleId: string;
  readonly transcript: Transcript;
  /** The number of IDENTIFYs, RESUMEs, RESUMEs without an answer, and open connections. */
  gateway(): {
    readonly identifies: number;
    readonly resumes: number;
    readonly waitingResumes: number;
    readonly connections: number;
  };
  /**
   * When `joined` is false the bot is not a member of the guild, so only people who installed the
   * app on their account can use it there.
   */
  addGuild(name: string, joined?: boolean): string;
  addChannel(guild: string, name: string, kind?: 'text' | 'voice' | 'forum' | 'category'): string;
  /**
   * Opens a private channel without the bot (direct messages for two people, a group chat for more)
   * and returns its id.
   */
  openPrivate(people: readonly string[], name?: string): string;
  /**
   * Opens the direct messages with a person; the bot is notified of the channel only with the first
   * message.
   */
  dmWith(user: string): string;
  /** Renames a person; the bot sees the new name in their next message. */
  nameUser(user: string, name: string): void;
  say(saying: PersonMessage): WireMessage;
  reword(channel: string, message: string, text: string): void;
  erase(channel: string, message: string): void;
  react(reacting: PersonReaction): void;
  type(channel: string, from: string): void;
  /** Opens a thread, or a post in a forum, and returns its id. */
  thread(start: Parameters<typeof startThread>[1]): string;
  /** Uses a slash command as a person and returns the id of the interaction. */
  slash(use: SlashCommandUse): string;
  /** Presses a button as a person and returns the id of the interaction. */
  press(use: ComponentPress): string;
  /** Submits a form as a person and returns the id of the interaction. */
  submit(use: FormSubmission): string;
  /**
   * Whether an interaction was answered, its ephemeral answers, and the form that was opened in
   * response.
   */
  interaction(id: string): {
    readonly answered: boolean;
    readonly ephemeral: VisibleMessage[];
    readonly modal?: Json | undefined;
  };
  deny(channel: string, permission: PermissionName, denied?: boolean): void;
  /** Grants the bot a guild permission that it does not have by default. */
  grant(guild: string, permission: PermissionName): void;
  /**
   * Sets the privileged intents enabled in the portal, as bits; running sessions stop receiving
   * content when its intent is missing.
   */
  portal(intents: number): void;
  promote(guild: string, user: string): void;
  /** Makes a person refuse direct messages from the bot, or accept them again. */
  closeDms(user: string, closed?: boolean): void;
  event(name: string, data: Json, guild?: string): void;
  /** The visible messages of a channel in both directions, oldest first. */
  conversation(channel: string): VisibleMessage[];
  /**
   * The messages that the bot sent after `after` (a `seq`), oldest first, with route, pings and
   * visible text.
   */
  sends(after?: number): SentMessage[];
  /**
   * The bot's REST calls, optionally only those whose method and path start with `start`, for
   * example `POST /channels/`.
   */
  calls(start?: string): RecordedCall[];
  /**
   * Injects a fault: a gateway fault takes effect immediately, a REST fault at the next matching
   * call.
   */
  fault(fault: Fault): void;
  clearFaults(): void;
  /**
   * Resolves with the first result of `look` that is neither undefined nor false; calls `look` on
   * every change.
   */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
