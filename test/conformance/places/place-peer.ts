import type { InboundMessage } from '@parley/core';

/** One of the conversations that a platform keeps apart. */
export interface Place {
  /** Where it is, in words that no other place has. */
  readonly name: string;
}

/** A platform on which people write in places; `P` is what its peer knows of one. */
export interface PlacePeer<P extends Place> {
  /** All places that a test writes in; ids of the platform occur in several of them. */
  readonly places: readonly P[];
  /** A person writes a text there; resolves with what the adapter hands over. */
  write(place: P, text: string): Promise<InboundMessage>;
  /** Sends an answer on the way back that the message came with. */
  answer(message: InboundMessage, text: string): Promise<void>;
  /** Where people see a text that the bot wrote: the name of the place. */
  placeOfAnswer(text: string): string | undefined;
  end(): Promise<void>;
}
