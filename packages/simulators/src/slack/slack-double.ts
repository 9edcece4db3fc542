import type { OptionalFieldMode } from '../optional-fields.ts';
import type { ButtonPress, FormSubmission, SlashCommand } from './acting.ts';
import type { RetrySchedule } from './dispatcher.ts';
import type { Fault } from './faults.ts';
import type { PersonMessage, PersonReaction } from './people.ts';
import type { SlackLimits } from './rate-limits.ts';
import type { DisconnectReason } from './socket-mode.ts';
import type { RecordedCall, RecordedDelivery, Transcript } from './transcript.ts';
import type { VisibleMessage } from './visible.ts';
import type { Json, WireMessage } from './wire.ts';
import type { ChannelKind, NewMember, View } from './workspace.ts';

/** The options of a double; each has a default. */
export interface SlackDoubleOptions {
  /** The loopback port; a free port when absent. */
  readonly port?: number;
  /** How optional fields are sent; they are included with their values when absent. */
  readonly optional?: OptionalFieldMode;
  /** Rate limits; none when absent. `REAL_LIMITS` contains Slack's published limits. */
  readonly limits?: SlackLimits;
  /** The schedule of redeliveries; `REAL_RETRIES` when absent. */
  readonly retries?: Partial<RetrySchedule>;
  /**
   * The double's clock, which returns the time in ms since 1970. The clock determines timestamps,
   * signatures and rate limits, but not how long the servers wait.
   */
  readonly clock?: () => number;
}

/** A running double: the address of its API, and the controls for tests. */
export interface SlackDouble {
  /** The address of the Web API, with a slash at the end. */
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  readonly teamId: string;
  readonly appId: string;
  readonly me: { readonly id: string; readonly name: string; readonly botId: string };
  readonly transcript: Transcript;
  /**
   * Sets the request URL for events, interactions and commands after verifying it with a challenge;
   * undefined enables Socket Mode instead.
   * @throws Error when the response does not contain the challenge
   */
  setRequestUrl(url: string | undefined): Promise<void>;
  addMember(member: NewMember): string;
  /** Adds a conversation that includes the bot and returns its id. */
  addChannel(wish: {
    readonly name: string;
    readonly kind?: ChannelKind;
    readonly members?: readonly string[];
    /** The id of the other workspace, for a conversation shared through Slack Connect. */
    readonly sharedWith?: string;
  }): string;
  /** Returns the id of the direct chat with a person and opens the chat if necessary. */
  directChat(user: string): string;
  say(saying: PersonMessage): WireMessage;
  reword(channel: string, ts: string, text: string): void;
  erase(channel: string, ts: string): void;
  react(reaction: PersonReaction): void;
  /** Presses a button or chooses an option; returns the id of the interaction. */
  press(press: ButtonPress): string;
  /** Runs a slash command; returns the id of the interaction. */
  slash(command: SlashCommand): string;
  /** Submits a form; returns the id of the interaction. */
  submit(submission: FormSubmission): string;
  /** Whether the bot has acknowledged an interaction in time. */
  interaction(id: string): 'pending' | 'acknowledged' | 'failed';
  /** Sends any event, for example `app_home_opened`. */
  event(event: Json & { readonly type: string }, channel?: string): void;
  setBot(channel: string, isIn: boolean): void;
  archive(channel: string, isArchived?: boolean): void;
  deactivate(user: string): void;
  /** Removes the app from the workspace and invalidates its tokens. */
  uninstall(): void;
  /** The visible messages of a conversation, oldest first. */
  conversation(channel: string): VisibleMessage[];
  /** The status that the bot shows below a thread, or below any thread of the conversation. */
  status(channel: string, threadTs?: string): string | undefined;
  /** The forms and home pages that people see. */
  views(): readonly View[];
  file(id: string): Uint8Array<ArrayBuffer> | undefined;
  /** The bot's calls, oldest first. */
  calls(method?: string): RecordedCall[];
  /** Every attempt to deliver something to the bot, oldest first. */
  deliveries(what?: string): RecordedDelivery[];
  /** The number of clients connected in Socket Mode. */
  connections(): number;
  /** Injects a fault into the next matching call or delivery. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Asks the Socket Mode clients to reconnect. */
  askToLeave(reason: DisconnectReason): void;
  /** Drops every connection, like a network failure. */
  dropConnections(): void;
  /** Stops all traffic to the connected Socket Mode clients without closing their connections. */
  mute(): void;
  /**
   * Resolves with the first result of `look` that is neither undefined nor false; calls `look` on
   * every change.
   */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
