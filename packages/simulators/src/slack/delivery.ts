import type { Json } from './wire.ts';

/** An event, interaction or command to be delivered to the bot. */
export interface Delivery {
  readonly type: 'events_api' | 'interactive' | 'slash_commands';
  /** The type of the event, for the transcript. */
  readonly what: string;
  readonly payload: Json;
  /** Whether the event reports the bot's own action. */
  readonly isOwn?: boolean;
}

/** The result of one attempt: the body of the acknowledgement, or the reason for its absence. */
export type DeliveryResult =
  | { readonly isAccepted: true; readonly body: unknown }
  | { readonly isAccepted: false; readonly reason: string; readonly isFinal?: boolean };

/** The number of the attempt and the reason for the previous failure. */
export interface RetryInfo {
  readonly attempt: number;
  readonly reason: string;
}
