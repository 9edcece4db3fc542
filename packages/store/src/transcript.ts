import type { PinPlace } from './pins.ts';
import type { InboxRow, TranscriptEntry } from './rows.ts';

/** A line of the history, and why not all of it reached its chat, if so (D05). */
export interface RememberedEntry extends TranscriptEntry {
  readonly undelivered?: string;
}

/** A line of the history with its place in it. */
export interface NumberedEntry extends RememberedEntry {
  readonly seq: number;
  /** When it was stored, in ms. */
  readonly at: number;
}

/** The model's history of a conversation. Written only by the commit of a turn. */
export interface TranscriptRepository {
  /** The newest `limit` entries of one session, oldest first. */
  recent(
    conversationId: string,
    session: number,
    limit: number,
  ): Promise<readonly RememberedEntry[]>;
  /** The newest `limit` entries of a session behind the entry `after`, oldest first. */
  newestAfter(place: PinPlace, after: number, limit: number): Promise<readonly NumberedEntry[]>;
  /** The oldest `limit` entries of a session behind the entry `after`, oldest first. */
  oldestAfter(place: PinPlace, after: number, limit: number): Promise<readonly NumberedEntry[]>;
  /** The newest `limit` entries of a session that were stored from `from` to before `to` (ms), oldest first. */
  saidBetween(
    place: PinPlace,
    from: number,
    to: number,
    limit: number,
  ): Promise<readonly NumberedEntry[]>;
  /** The messages that the turns of these entries of a session answered (`seq`, both included), oldest first. */
  messagesBehind(place: PinPlace, first: number, last: number): Promise<readonly InboxRow[]>;
}
