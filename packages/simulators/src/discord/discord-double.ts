import type { Optional } from '../optional-fields.ts';
import type { Fault } from './faults.ts';
import type { Press, Slash, Submit } from './interacting.ts';
import type { Reacting, Saying, startThread } from './people.ts';
import type { RateLimits } from './rate-limits.ts';
import type { RecordedCall, Sent, Transcript, VisibleMessage } from './transcript.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import type { PermissionName } from './world.ts';

/** The options of a double; everything has a default. */
export interface DiscordDoubleOptions {
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  /** Limits of the REST interface; wide ones when absent, `REAL_LIMITS` for about the real ones. */
  readonly limits?: RateLimits;
  /** Privileged intents switched on in the portal, as bits; all when absent. */
  readonly portalIntents?: number;
  /** The form in which Discord's optional fields are sent; with its values when absent. */
  readonly optional?: Optional;
  /** Milliseconds between heartbeats; 41,250 as on the servers when absent. */
  readonly heartbeatMs?: number;
  /** Session starts left; 1,000 when absent. */
  readonly sessionStarts?: number;
  /** The picture of the bot; it has none when absent. */
  readonly picture?: Uint8Array;
  /** Milliseconds since 1970; decides ids, dates and limits, not how long a fault waits. */
  readonly clock?: () => number;
}

/** A running double: the wire on `apiRoot`, and what tests do to it and see of it. */
export interface DiscordDouble {
  /** For `rest: { api }`; the client adds `/v10`. */
  readonly apiRoot: string;
  readonly token: string;
  readonly me: WireUser;
  /** A guild with one text channel that is there from the start. */
  readonly guildId: string;
  readonly channelId: string;
  /** The role in that guild that has the bot's name. */
  readonly botRoleId: string;
  /** The role in that guild of those who were promoted. */
  readonly moderatorRoleId: string;
  readonly transcript: Transcript;
  /** The numbers of identifications, RESUMEs, held RESUMEs and connections. */
  gateway(): {
    readonly identifies: number;
    readonly resumes: number;
    readonly waitingResumes: number;
    readonly connections: number;
  };
  /** `joined` false: the bot is no member, so only commands of people who have it on their account come from there. */
  addGuild(name: string, joined?: boolean): string;
  addChannel(guild: string, name: string, kind?: 'text' | 'voice' | 'forum' | 'category'): string;
  /** Direct messages of two people, or a group of more, without the bot; gives back the id of the channel. */
  openPrivate(people: readonly string[], name?: string): string;
  /** The direct messages with a person; the bot hears of them by the first message alone. */
  dmWith(user: string): string;
  /** Renames a person; the bot learns it with their next message. */
  nameUser(user: string, name: string): void;
  /** Somebody writes. */
  say(saying: Saying): WireMessage;
  reword(channel: string, message: string, text: string): void;
  erase(channel: string, message: string): void;
  react(reacting: Reacting): void;
  type(channel: string, from: string): void;
  /** Opens a thread, or a post in a forum; gives back its id. */
  thread(start: Parameters<typeof startThread>[1]): string;
  /** Somebody uses a slash command; gives back the id of the interaction. */
  slash(use: Slash): string;
  /** Somebody presses a button; gives back the id of the interaction. */
  press(use: Press): string;
  /** Somebody fills in a form; gives back the id of the interaction that brings it. */
  submit(use: Submit): string;
  /** Whether it was answered, the answers that only the person sees, and the form that it was answered with. */
  interaction(id: string): {
    readonly answered: boolean;
    readonly ephemeral: VisibleMessage[];
    readonly modal?: Json | undefined;
  };
  /** Takes a permission of the bot away in a channel, or gives it back. */
  deny(channel: string, permission: PermissionName, denied?: boolean): void;
  /** Gives the bot a permission in a guild that it usually does not have. */
  grant(guild: string, permission: PermissionName): void;
  /** Switches privileged intents on and off in the portal, as bits; sessions that run lose the content. */
  portal(intents: number): void;
  /** A member of a guild becomes one of its moderators. */
  promote(guild: string, user: string): void;
  /** A person takes no direct messages from the bot any more, or takes them again. */
  closeDms(user: string, closed?: boolean): void;
  /** An event of any kind. */
  event(name: string, data: Json, guild?: string): void;
  /** The visible messages of a channel, both ways, oldest first. */
  conversation(channel: string): VisibleMessage[];
  /** The messages that the bot sent later than `after` (a `seq`), oldest first: route, pings and visible text. */
  sends(after?: number): Sent[];
  /** The bot's REST calls, or those that begin so, for example `POST /channels/`. */
  calls(start?: string): RecordedCall[];
  /** Something goes wrong: with the gateway at once, with REST at the next matching call. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
