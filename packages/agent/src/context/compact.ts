import { isDeepStrictEqual } from 'node:util';
import { type Reader, reasonOf } from '@parley/core';
import type { NumberedEntry, PinPlace, StoredSummary, SummaryTask } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { withTimeLimit } from '../time-limit.ts';
import { entryText } from './assemble-history.ts';
import type { HistoryLimits } from './history-budget.ts';
import { Summary, summaryPlace, summaryText } from './summary.ts';
import {
  checkUnchanged,
  claimSummary,
  type NotSummarized,
  SaidChangedError,
  type SummaryServices,
  tokensRead,
  writeSummary,
} from './write-summary.ts';

/** Entries that a summary is about to replace, and whose they are. */
export interface Compacting extends PinPlace {
  readonly reader: Reader;
  readonly entries: readonly NumberedEntry[];
  /** Sentences that people are said to have written and that should be remembered. */
  readonly quotes: readonly string[];
}

export interface CompactServices extends SummaryServices {
  readonly history: HistoryLimits;
  /** What the model can take at a time; all that is wanted when absent. */
  readonly contextTokens?: (() => number) | undefined;
  /** Saves what must not be lost, before the summary replaces the text. */
  readonly beforeCompact?: ((compacting: Compacting) => Promise<void>) | undefined;
}

export type Compaction =
  | { readonly kind: 'done'; readonly entries: number; readonly from: number; readonly to: number }
  /** There is too little to summarize; `already`: it was summarized a while or a crash ago. */
  | { readonly kind: 'nothing'; readonly already: boolean }
  | NotSummarized;

export interface CompactionOrder extends PinPlace {
  readonly reader: Reader;
  /** A person asked, or there is no other way: also a little, and also after a failure. */
  readonly forced: boolean;
}

/** Turns that stay verbatim; fewer when a person asks. */
const KEEP_TURNS = { wanted: 10, forced: 2 };
/** Their share of the past, and the share of the model's window that one summary may use. */
const KEEP_SHARE = 0.3;
const MOST_SHARE = 0.5;
const LEAST_TOKENS = { wanted: 400, forced: 1 };
const MOST_ENTRIES = 1_000;
const HOOK_MS = 30_000;

/**
 * Summarizes the older part of a history, in one process at a time (G11). What fails leaves
 * everything as it was. Throws only what `stop` fired with.
 */
export async function compact(
  deps: CompactServices,
  order: CompactionOrder,
  stop: AbortSignal,
): Promise<Compaction> {
  const { reader, conversationId, session, forced } = order;
  const place = summaryPlace(order, reader);
  const stored = await deps.store.summaries.latest(place);
  const before = Summary.safeParse(stored?.content).data ?? null;
  const after = before === null ? 0 : (stored?.reaches ?? 0);
  const all = await deps.store.transcript.oldestAfter(place, after, MOST_ENTRIES);
  const room = deps.contextTokens?.() ?? Number.POSITIVE_INFINITY;
  const entries = olderPart(all, divisionOf(deps, before, forced));
  const last = entries.at(-1);
  if (last === undefined) return { kind: 'nothing', already: before !== null };
  const task: SummaryTask = { ...place, kind: 'history', mark: String(after) };
  const work = async (signal: AbortSignal): Promise<StoredSummary> => {
    const wanted = { before, entries, room, quotes: deps.beforeCompact !== undefined };
    const { summary, quotes } = await writeSummary(deps, wanted, signal);
    await saveFirst(deps, { reader, conversationId, session, entries, quotes }, signal);
    const latest = await deps.store.summaries.latest(place);
    // Another process was faster, and this summary is not stored.
    const isSame = latest?.reaches !== stored?.reaches || isDeepStrictEqual(latest, stored);
    if (!isSame) throw new SaidChangedError();
    const { transcript } = deps.store;
    checkUnchanged(entries, await transcript.oldestAfter(place, after, entries.length));
    return { content: summary, reaches: last.seq };
  };
  const done = await claimSummary(deps, task, forced, work, stop);
  if ('kind' in done) return done;
  const from = tokensOf(before, entries);
  return { kind: 'done', entries: entries.length, from, to: tokensOf(Summary.parse(done.content)) };
}

function divisionOf(
  { history, contextTokens }: CompactServices,
  before: Summary | null,
  forced: boolean,
) {
  const how = forced ? 'forced' : 'wanted';
  const room = contextTokens?.() ?? Number.POSITIVE_INFINITY;
  return {
    keepTurns: KEEP_TURNS[how],
    keepTokens: KEEP_SHARE * Math.min(history.tokens, room / 2),
    mostTokens: MOST_SHARE * room - tokensOf(before),
    leastTokens: LEAST_TOKENS[how],
  };
}

async function saveFirst(
  { beforeCompact, log }: CompactServices,
  compacting: Compacting,
  stop: AbortSignal,
): Promise<void> {
  if (beforeCompact === undefined) return;
  try {
    await withTimeLimit({ ms: HOOK_MS, stop }, () => beforeCompact(compacting));
  } catch (error) {
    stop.throwIfAborted();
    // Otherwise one broken hook would let every conversation grow for ever.
    log.error({ reason: reasonOf(error) }, 'memories could not be saved before the summary');
  }
}

function tokensOf(summary: Summary | null, entries: readonly NumberedEntry[] = []): number {
  const texts = [...(summary === null ? [] : [summaryText(summary)]), ...entries.map(entryText)];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

interface Division {
  /** Turns that stay verbatim, where they are short enough. */
  readonly keepTurns: number;
  readonly keepTokens: number;
  readonly mostTokens: number;
  readonly leastTokens: number;
}

/**
 * The oldest entries, to be summarized; ends with the end of a turn. Empty when there is too
 * little. The newest turn always stays.
 */
function olderPart(
  entries: readonly NumberedEntry[],
  { keepTurns, keepTokens, mostTokens, leastTokens }: Division,
): readonly NumberedEntry[] {
  const begins = entries.flatMap(({ role }, index) =>
    role === 'user' && entries[index - 1]?.role !== 'user' ? [index] : [],
  );
  const costs = entries.map((entry) => estimateTokens(entryText(entry)));
  const read = entries.map(tokensRead);
  const cost = (from: number, to?: number): number => sum(costs.slice(from, to));
  const last = begins.at(-1) ?? 0;
  const keptFrom =
    begins.slice(-keepTurns).find((begin) => cost(begin) <= keepTokens || begin === last) ?? 0;
  const ends = begins.filter((begin) => begin > 0 && begin <= keptFrom);
  const end = ends.findLast((begin) => sum(read.slice(0, begin)) <= mostTokens) ?? ends[0] ?? 0;
  return cost(0, end) < leastTokens ? [] : entries.slice(0, end);
}

function sum(tokens: readonly number[]): number {
  return tokens.reduce((total, one) => total + one, 0);
}
