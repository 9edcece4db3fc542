import type { TranscriptEntry } from './rows.ts';

/** A line of the history, and why not all of it reached its chat, if so (D05). */
export interface RememberedEntry extends TranscriptEntry {
  readonly undelivered?: string;
}

/** The model's history of a conversation. Written only by the commit of a turn. */
export interface TranscriptRepository {
  /** The newest `limit` entries of one session, oldest first. */
  recent(
    conversationId: string,
    session: number,
    limit: number,
  ): Promise<readonly RememberedEntry[]>;
}
