import type { Question } from './words.ts';

/**
 * The channels whose people ask, by their names in the settings. Slack is hosted twice, because its
 * events arrive in two ways.
 */
export const CHANNELS = [
  'telegram',
  'discord',
  'whatsapp',
  'slack',
  'slack-socket',
  'web',
] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** A chat as its people see it. */
export interface ObservedChat {
  readonly chatId: string;
  /** The people who write in it, by numbers that are unique across all chats. */
  readonly senders: readonly number[];
  /** The agent's messages, oldest first. */
  readonly texts: readonly string[];
}

/** The people of one channel: they ask, even while no process is running, and see the answers. */
export interface CrashSide {
  readonly channel: ChannelName;
  /** The settings of the channel, under `channels`. */
  readonly settings: object;
  /** Everyone who writes on this channel. */
  readonly senders: readonly number[];
  /** Asks a question as its sender; the questions of one sender are sent in this order. */
  ask(question: Question): void;
  /** Whether all questions have been sent and, if the platform reports it, confirmed by Parley. */
  allDelivered(): boolean;
  look(): Promise<readonly ObservedChat[]>;
  /** Scans a code to link the account; absent if the channel does not need linking. */
  scan?(code: string): void;
  close(): Promise<void>;
}

/** This many consecutive numbers, starting with `first`. */
export function listSenders(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
