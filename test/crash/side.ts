import type { Question } from './words.ts';

/** The channels whose people ask. */
export const CHANNELS = ['telegram', 'discord', 'whatsapp', 'web'] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** A chat as its people see it. */
export interface ChatSeen {
  readonly chatId: string;
  /** Who writes in it; numbers that no other chat has. */
  readonly senders: readonly number[];
  /** What the agent said, oldest first. */
  readonly texts: readonly string[];
}

/** The people of one channel: they ask, also while nobody answers, and see what comes back. */
export interface Side {
  readonly channel: ChannelName;
  /** What the settings file needs for it, below `channels`. */
  readonly settings: object;
  /** Everyone who writes here. */
  readonly senders: readonly number[];
  /** Somebody asks; questions of one sender leave in this order. */
  ask(question: Question): void;
  /** All questions have left people's hands; where the platform knows it, Parley has said that it has them. */
  allDelivered(): boolean;
  look(): Promise<readonly ChatSeen[]>;
  /** What a phone scans to link the account, where there is something to link. */
  scan?(code: string): void;
  close(): Promise<void>;
}

/** So many numbers from `first` on. */
export function sendersFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
