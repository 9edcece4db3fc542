import type { Json } from './wire.ts';

/** Something for the bot: an event, an interaction or a command. */
export interface Delivery {
  readonly type: 'events_api' | 'interactive' | 'slash_commands';
  /** The type of the event, for the transcript. */
  readonly what: string;
  readonly payload: Json;
  /** Whether it tells the bot what the bot itself did. */
  readonly isOwn?: boolean;
}

/** The result of one attempt: the body of the acknowledgement, or why there was none. */
export type DeliveryResult =
  | { readonly isAccepted: true; readonly body: unknown }
  | { readonly isAccepted: false; readonly reason: string; readonly isFinal?: boolean };

/** Which attempt this is, and why the one before failed. */
export interface RetryInfo {
  readonly attempt: number;
  readonly reason: string;
}
