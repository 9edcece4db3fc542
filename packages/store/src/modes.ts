/** How freely the agent acts in a conversation (G04). Outlives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** What `/mode` found and did. */
export interface ModeChange {
  readonly before: ConversationMode;
  readonly now: ConversationMode;
  /** A plan was waiting for this: the command itself has become the message that runs it. */
  readonly runsPlan: boolean;
}
