/** The chat a lane of deliveries belongs to; parts of one chat go out in order. */
export interface ChatKey {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
}

/** Condition of a statement: the rows of a `ChatKey`. */
export const OF_CHAT = 'channel = :channel and account = :account and chat_id = :chatId';
/** Names a message as its platform does. */
export interface MessageKey extends ChatKey {
  readonly messageId: string;
}
