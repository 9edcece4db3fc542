/** A conversation in which messages wait for a turn. */
export interface WaitingConversation {
  readonly conversationId: string;
  readonly messages: number;
  /** When the oldest was received, in ms. */
  readonly oldestAt: number;
}

/** A turn that is under way. Times in ms. */
export interface RunningTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly startedAt: number;
  /** How often it was begun. */
  readonly attempts: number;
  /** Who works on it; null: nobody just now. */
  readonly owner: string | null;
  readonly leaseUntil: number | null;
  /** It waits for somebody's yes. */
  readonly isSuspended: boolean;
}

/** What an account has still to send. */
export interface OwedByAccount {
  readonly channel: string;
  readonly account: string;
  readonly pending: number;
  readonly sending: number;
  readonly chats: number;
  /** When the oldest of them was stored, in ms. */
  readonly oldestAt: number;
}

/** What waits, runs and is still to be sent; each list begins with the oldest and is cut at the limit. */
export interface Backlog {
  readonly messages: number;
  readonly conversations: number;
  readonly turns: number;
  readonly waiting: readonly WaitingConversation[];
  readonly running: readonly RunningTurn[];
  readonly outgoing: readonly OwedByAccount[];
}

/** Looks at the work that is not done yet; it writes nothing. */
export interface BacklogRepository {
  look(limit: number): Promise<Backlog>;
}
