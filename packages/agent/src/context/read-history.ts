import type { PromptPart, Reader } from '@parley/contracts';
import type { NumberedEntry, PinPlace, Store, SummaryPlace } from '@parley/store';
import { Summary, summaryPart } from './summary.ts';

/** The past of a session, as far as it is shown. */
export interface ReadHistory {
  readonly summary: PromptPart | null;
  /** Behind the summary, oldest first. */
  readonly transcript: readonly NumberedEntry[];
}

/** A conversation and who reads it, as summaries are kept. */
export function summaryPlace(
  { conversationId, session }: PinPlace,
  { kind }: Reader,
): SummaryPlace {
  return { conversationId, session, reader: kind };
}

/** Reads the last summary of a session for this kind of reader, and what was said since. */
export async function readHistory(
  { summaries, transcript }: Pick<Store, 'summaries' | 'transcript'>,
  of: PinPlace,
  reader: Reader,
  entries: number,
): Promise<ReadHistory> {
  const place = summaryPlace(of, reader);
  const stored = await summaries.latest(place);
  // What another version wrote is passed over, and everything since the beginning is read instead.
  const summary = Summary.safeParse(stored?.content);
  const after = summary.success && stored !== null ? stored.reaches : 0;
  return {
    summary: summary.success ? summaryPart(summary.data, reader) : null,
    transcript: await transcript.newestAfter(place, after, entries),
  };
}
