/** Where a pin belongs: one session of one conversation. */
export interface PinPlace {
  readonly conversationId: string;
  readonly session: number;
}

/** Values that stay what they were for the rest of a session (S07). Written by turns alone. */
export interface PinRepository {
  /**
   * The value under `key`: what was pinned first, or `content` if nothing was. `content` must survive
   * JSON. Pins of earlier sessions of the conversation are removed on the way.
   */
  fix(place: PinPlace, key: string, content: unknown, now: number): Promise<unknown>;
}
