import type { InboundMessage } from '@parley/core';

/** One of the conversations that a platform keeps separate. */
export interface Place {
  /** A unique description of the place. */
  readonly name: string;
}

/** A platform with places where people write; `P` is its peer's data about each place. */
export interface PlacePeer<P extends Place> {
  /** All places used by a test; the platform's ids occur in several of them. */
  readonly places: readonly P[];
  /** A person writes there; resolves with the message from the adapter. */
  write(place: P, text: string): Promise<InboundMessage>;
  /** Sends an answer to the route of the message. */
  answer(message: InboundMessage, text: string): Promise<void>;
  /** The name of the place in which people see a text of the bot. */
  placeOfAnswer(text: string): string | undefined;
  end(): Promise<void>;
}
