/** A chat as its people see it. */
export interface ChatSeen {
  readonly chatId: string;
  /** Who writes in it, and how many questions each has asked. */
  readonly asked: ReadonlyMap<number, number>;
  /** What the agent said, oldest first. */
  readonly texts: readonly string[];
}

/** The people of one channel: they ask, also while nobody answers, and see what comes back. */
export interface Side {
  readonly channel: 'telegram' | 'web';
  /** What the settings file needs for it, below `channels`. */
  readonly settings: object;
  /** Everybody asks one more question. */
  askAll(): void;
  /** All questions have left people's hands; Parley has said that it has them. */
  handedOver(): boolean;
  look(): Promise<readonly ChatSeen[]>;
  close(): Promise<void>;
}
