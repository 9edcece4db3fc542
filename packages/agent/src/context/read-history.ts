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
  { transcript }: Pick<Store, 'transcript'>,
  of: PinPlace,
  reader: Reader,
  entries: number,
): Promise<ReadHistory> {
  const place = summaryPlace(of, reader);
  const { summary: stored, entries: sinceStored } = await transcript.sinceSummary(place, entries);
  const summary = Summary.safeParse(stored?.content);
  if (summary.success)
    return { summary: summaryPart(summary.data, reader), transcript: sinceStored };
  // What another version wrote is passed over, and everything since the beginning is read instead.
  const all = stored === null ? sinceStored : await transcript.newestAfter(place, 0, entries);
  return { summary: null, transcript: all };
}
