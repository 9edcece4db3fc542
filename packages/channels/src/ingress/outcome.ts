/** What became of an inbound message; every path ends in exactly one of these (D08). */
export type IngressOutcome =
  /** Stored; a turn will follow. */
  | { readonly kind: 'accepted'; readonly conversationId: string }
  /** Stored before; nothing new happens. */
  | { readonly kind: 'duplicate' }
  /** A command; it was carried out, or declined, and answered without the model. */
  | {
      readonly kind: 'command';
      readonly name: string;
      /** Why it was declined, in words for whoever gave it; the chat is told the same. */
      readonly declined?: string;
      /** What was asked is decided: buttons that stand below the question do nothing any more. */
      readonly settled?: true;
    }
  /** Nobody meant the bot, or no person wrote it. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** The sender may not talk to the bot, or the message breaks a limit; the text is not stored. */
  | { readonly kind: 'refused'; readonly reason: string };
