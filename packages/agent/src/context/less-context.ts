import type { Reader } from '@parley/core';
import { type ChatModel, ModelError, type ModelFailure } from '@parley/models';
import type { SnapshotKey, Store } from '@parley/store';
import type { Compactor } from './compactor.ts';
import { computeSummaryBudget, type HistoryLimits } from './history.ts';
import { type HistorySnapshot, readHistory } from './summary.ts';

export interface LessContextDeps {
  readonly store: Pick<Store, 'summaries' | 'transcript'>;
  readonly history: HistoryLimits;
  readonly model: Pick<ChatModel, 'learnTokens'>;
  readonly contextTokens?: (() => number) | undefined;
  readonly compactor?: Compactor | undefined;
}

/** The limits that keep the next request shorter than the refused one. */
interface ShorterHistory extends HistorySnapshot {
  readonly history: HistoryLimits;
  readonly contextTokens: number;
}

/**
 * Sends the request. The function calls `refused` with the length, in tokens, of a request that may
 * have been too long.
 */
type SendRequest<T> = (
  shorter: ShorterHistory | undefined,
  refused: (tokens: number) => void,
) => Promise<T>;

/**
 * Sends a request and, if it was or may have been too long, retries with a shorter one, because the
 * assumed context window was wrong. The first attempt summarizes the older part of the
 * conversation. Later attempts cut the past, the tool results and the newest message to the
 * available space, which shrinks with each attempt. The window of the successful request is
 * remembered for later requests. Throws the last error if no shorter request helps.
 */
export async function retryWithLessContext<T>(
  deps: LessContextDeps,
  whose: SnapshotKey & { readonly reader: Reader },
  stop: AbortSignal,
  ask: SendRequest<T>,
): Promise<T> {
  const refusals: RequestRefusal[] = [];
  let shorter: ShorterHistory | undefined;
  for (;;) {
    let sent = 0;
    const refused = (tokens: number): void => {
      sent = tokens;
    };
    try {
      const answer = await ask(shorter, refused);
      const learned = inferContextWindow(refusals);
      if (learned !== null) deps.model.learnTokens?.(learned);
      return answer;
    } catch (error) {
      if (!(error instanceof ModelError) || stop.aborted) throw error;
      refusals.push({ failure: error.failure, sent });
      const room = computeNextLimit(refusals, deps.contextTokens?.());
      if (room === null) throw error;
      // A failed summary is ignored, because the next attempt omits whatever does not fit.
      const isFirst = refusals.length === 1 && error.failure.kind === 'too-long';
      if (isFirst) await deps.compactor?.now({ ...whose, forced: true }, stop);
      shorter = await computeShorterHistory(deps, whose, room);
    }
  }
}

async function computeShorterHistory(
  { store, history: { entries, tokens } }: LessContextDeps,
  whose: SnapshotKey & { readonly reader: Reader },
  room: number,
): Promise<ShorterHistory> {
  const read = await readHistory(store, whose, whose.reader, entries);
  // The minimum keeps the summary in the request even if the prompt takes all the remaining space.
  const history = {
    entries,
    tokens: Math.min(tokens, Math.floor(room / 2)),
    least: computeSummaryBudget(room),
  };
  return { ...read, history, contextTokens: room };
}

/** A refused request; `sent` is its estimated length in tokens. */
export interface RequestRefusal {
  readonly failure: ModelFailure;
  readonly sent: number;
}

const MAX_TRIES = 5;
/** The refusal of a request shorter than this, in tokens, does not reveal the context window. */
const MIN_SUSPECT = 2_000;
/** The smallest window to assume, in tokens; no prompt fits into less. */
const MIN_ROOM = 512;
/**
 * A request this close to an assumed window counts as too long even if it was refused without a
 * reason.
 */
const NEAR = 0.7;
/** A margin for the error in token estimates. */
const MARGIN = 0.9;
/**
 * A request that did not shrink at least to this share of the previous one cannot be shortened any
 * further.
 */
const SHORTENED = 0.95;

/**
 * The limit for the next request, in tokens; null if a shorter request would not help or is not
 * possible.
 */
export function computeNextLimit(
  refusals: readonly RequestRefusal[],
  known: number | undefined,
): number | null {
  const last = refusals.at(-1);
  const before = refusals.at(-2);
  if (last === undefined || refusals.length >= MAX_TRIES) return null;
  const { failure, sent } = last;
  const isStuck = before !== undefined && before.sent > 0 && sent > before.sent * SHORTENED;
  // The first retry only summarized, so the request may be only slightly shorter.
  if (isStuck && refusals.length > 2) return null;
  if (!isSuspectRefusal(refusals, known)) return null;
  const most = Math.min(
    known ?? Number.POSITIVE_INFINITY,
    sent > 0 ? sent : Number.POSITIVE_INFINITY,
  );
  const halves = Math.floor(most / 2 ** (isStuck ? refusals.length : 1));
  const said = failure.kind === 'too-long' ? scaleWindow(failure, sent) : null;
  const room = said === null ? halves : Math.min(said, isStuck ? halves : Number.POSITIVE_INFINITY);
  if (room === Number.POSITIVE_INFINITY) return null;
  // At least one shorter request is tried before giving up.
  if (room < MIN_ROOM) return refusals.length === 1 ? MIN_ROOM : null;
  return room;
}

function isSuspectRefusal(refusals: readonly RequestRefusal[], known: number | undefined): boolean {
  const last = refusals.at(-1);
  if (last === undefined) return false;
  const { failure, sent } = last;
  if (failure.kind === 'too-long') return true;
  if (!('mayBeTooLong' in failure) || failure.mayBeTooLong !== true) return false;
  if (known !== undefined && sent >= known * NEAR) return true;
  // Servers refuse requests for many reasons, not only for their length. A refusal without a reason
  // leads to one attempt with a shorter request; an overloaded server leads to none.
  return failure.kind === 'refused' && sent >= MIN_SUSPECT && refusals.length === 1;
}

/**
 * The window that the server named, converted to tokens as estimated here; null if it named none.
 */
function scaleWindow(
  { windowTokens, promptTokens }: Extract<ModelFailure, { kind: 'too-long' }>,
  sent: number,
): number | null {
  if (windowTokens === undefined) return null;
  if (sent === 0) return Math.floor(windowTokens * MARGIN);
  if (promptTokens !== undefined && promptTokens > 0) {
    return Math.floor(Math.min(windowTokens, (windowTokens * sent) / promptTokens) * MARGIN);
  }
  // By the server's count the request was longer than the window, whatever the estimate says.
  return Math.floor(Math.min(windowTokens * MARGIN, sent * 0.7));
}

/** The window to remember once a shorter request has succeeded; null if nothing can be learned. */
export function inferContextWindow(refusals: readonly RequestRefusal[]): number | null {
  const windows = refusals.flatMap(({ failure, sent }) => {
    if (failure.kind === 'too-long') {
      if (failure.isBytes === true) return [];
      return [scaleWindow(failure, sent) ?? (sent > 0 ? Math.floor(sent * MARGIN) : null)];
    }
    return sent > 0 ? [Math.floor(sent * MARGIN)] : [];
  });
  const known = windows.filter((window) => window !== null);
  return known.length === 0 ? null : Math.min(...known);
}
