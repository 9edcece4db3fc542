import { BoundedMap, type PromptPart, type Reader, reasonOf } from '@parley/core';
import type { ContextSource, SourceTurn } from '@parley/prompt';
import type { SummaryTask } from '@parley/store';
import type { LocalTime } from '../time.ts';
import { getAudience } from '../turn/turn.ts';
import {
  assertHistoryUnchanged,
  claimSummary,
  formatSummary,
  Summary,
  type SummaryServices,
  toSummaryKey,
  writeSummary,
} from './summary.ts';

interface YesterdayServices extends SummaryServices {
  /** The agent's local time, which decides when a day ends. */
  readonly localTime: LocalTime;
}

const MAX_ENTRIES = 400;
/** A time span (ms) that is longer than any day. */
const LONG_DAY = 26 * 60 * 60_000;
/** The number of sessions for which days without messages are cached. */
const REMEMBERED = 1_000;

/**
 * Provides the summary of yesterday's conversation for the `yesterday` prompt layer (G11). The
 * summary is written once, after the first turn of a new day, so that no answer has to wait for it;
 * that turn still has the messages in its history. Only days without messages are cached, because a
 * cached summary would survive `/forget`.
 */
export function createYesterdaySource(deps: YesterdayServices) {
  const silentDays = new BoundedMap<string, string>(REMEMBERED);
  const running = new Map<string, Promise<void>>();
  const ended = new AbortController();
  const remember = async (turn: SourceTurn, key: string, day: string): Promise<void> => {
    try {
      const found = await summarizeDay(deps, turn, day, ended.signal);
      if (found === null) silentDays.set(key, day);
    } catch (error) {
      if (ended.signal.aborted) return;
      const facts = { conversation: turn.conversationId, reason: reasonOf(error) };
      deps.log.error(facts, 'yesterday’s conversation could not be summarized');
    } finally {
      running.delete(key);
    }
  };
  return {
    id: 'yesterday',
    async gather(turn: SourceTurn): ReturnType<ContextSource['gather']> {
      const day = getDayBefore(turn.facts.date);
      const key = JSON.stringify([turn.conversationId, turn.session, turn.reader.kind]);
      if (silentDays.get(key) === day) return {};
      if (running.has(key) || ended.signal.aborted) return {};
      const stored = await readStoredSummary(deps, turn, day);
      if (stored !== null) return { yesterday: stored };
      // A preview does not write a summary.
      if (turn.fix === undefined) return {};
      running.set(key, remember(turn, key, day));
      return {};
    },
    async settled() {
      await Promise.all(running.values());
    },
    async close() {
      ended.abort(new Error('the worker is stopping'));
      await Promise.all(running.values());
    },
  };
}

export function getDayBefore(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}

async function readStoredSummary(
  { store }: YesterdayServices,
  turn: SourceTurn,
  day: string,
): Promise<PromptPart | null> {
  const stored = await store.summaries.ofDay(toSummaryKey(turn, turn.reader), day);
  const summary = Summary.safeParse(stored?.content);
  return summary.success ? createYesterdayPart(summary.data, turn.reader, day) : null;
}

/** Null for a day without messages; `later` if the summary cannot be written now. */
async function summarizeDay(
  deps: YesterdayServices,
  turn: SourceTurn,
  day: string,
  stop: AbortSignal,
): Promise<PromptPart | null | 'later'> {
  // Reads only up to the end of that day, so that later messages do not use up the limit.
  const end = findDayEnd(deps, day);
  const between = [end - LONG_DAY, end, MAX_ENTRIES] as const;
  const said = await deps.store.transcript.saidBetween(turn, ...between);
  const entries = said.filter(({ at }) => deps.localTime(at).date === day);
  const last = entries.at(-1);
  if (last === undefined) return null;
  const task: SummaryTask = { ...toSummaryKey(turn, turn.reader), kind: 'day', mark: day };
  const work = async (signal: AbortSignal) => {
    const { summary } = await writeSummary(deps, { before: null, entries }, signal);
    const { transcript } = deps.store;
    assertHistoryUnchanged(said, await transcript.saidBetween(turn, ...between));
    return { content: summary, reaches: last.seq };
  };
  const done = await claimSummary(deps, task, false, work, stop);
  return 'kind' in done
    ? 'later'
    : createYesterdayPart(Summary.parse(done.content), turn.reader, day);
}

/** If the turn started just before midnight, `clock()` may already be in the next day. */
function findDayEnd({ clock, localTime }: YesterdayServices, day: string): number {
  const today = findDayStart(localTime, clock());
  return getDayBefore(localTime(today).date) === day ? today : findDayStart(localTime, today - 1);
}

function createYesterdayPart(summary: Summary, reader: Reader, day: string): PromptPart {
  // The prompt layer adds the quotation marks again.
  const text = formatSummary(summary).replace(/^> /gm, '');
  return { text, source: `talk of ${day}`, audience: getAudience(reader) };
}

/**
 * The first moment (ms) of the local day that contains `now`, whatever clock changes there are.
 * Found by bisection, because the local day start follows only from the time zone data.
 */
export function findDayStart(localTime: LocalTime, now: number): number {
  const { date } = localTime(now);
  let [before, within] = [now - LONG_DAY, now];
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (localTime(middle).date < date) before = middle;
    else within = middle;
  }
  return within;
}
