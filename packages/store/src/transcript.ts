import type { TranscriptEntry } from './rows.ts';

/** The model's history of a conversation. Written only by the commit of a turn. */
export interface TranscriptRepository {
  /** The newest `limit` entries of one session, oldest first. */
  recent(
    conversationId: string,
    session: number,
    limit: number,
  ): Promise<readonly TranscriptEntry[]>;
}
