import type { InboundMessage } from '@parley/core';

/** One of the conversations that a platform keeps separate. */
export interface PlatformLocation {
  /** A unique description of the location. */
  readonly name: string;
}

/** A platform with locations where people write; `P` is the peer's data about a location. */
export interface LocationPeer<P extends PlatformLocation> {
  /** All locations used by a test; some platform ids occur in several locations. */
  readonly places: readonly P[];
  /** Writes as a person in a location; resolves with the message from the adapter. */
  write(place: P, text: string): Promise<InboundMessage>;
  /** Sends an answer to the route of the message. */
  answer(message: InboundMessage, text: string): Promise<void>;
  /** The name of the location where people see this text from the bot. */
  placeOfAnswer(text: string): string | undefined;
  end(): Promise<void>;
}
