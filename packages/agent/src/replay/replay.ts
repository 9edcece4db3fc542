import type { CheckRunner, Clock, Monotonic } from '@parley/core';
import type { ChatModel } from '@parley/models';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from '../loop/turn-limits.ts';
import { type AgentChange, changePrompt } from './change-prompt.ts';
import { compareAnswers, compareRequests, isNoticeable } from './compare-outcomes.ts';
import { type LiveReads, openLiveReads } from './live-reads.ts';
import type { ReplayOutcome } from './outcome.ts';
import { completeRequest, type RebuiltTurn, rebuildRequest } from './rebuild-request.ts';
import {
  createIncomplete,
  type IncompleteOutcome,
  type RecordServices,
  readTurnRecord,
  type TurnRecord,
} from './recorded-turn.ts';
import { replayTurn } from './replay-turn.ts';

/** The services of replays: readers of records, and the parts of a loop that changes nothing. */
export interface ReplayServices extends RecordServices {
  readonly limits?: Partial<TurnLimits>;
  readonly checks: CheckRunner;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/** What to do with a recorded turn. */
export interface ReplayRequest {
  /** The model to ask; null to build only the request (`--dry-run`). */
  readonly model: ChatModel | null;
  /** The window of that model, in tokens; absent if it is the model that had answered. */
  readonly contextTokens?: number | undefined;
  /** A change to the agent: another file or another profile. */
  readonly change?: AgentChange | undefined;
  readonly liveReads?: Omit<LiveReads, 'limits' | 'clock'> | undefined;
}

/** A turn whose request was built again, checked against the record. */
export interface OpenedReplay {
  readonly record: TurnRecord;
  readonly rebuilt: RebuiltTurn;
}

/** Reads a turn and builds its first request again; null if nothing of the turn is known. */
export async function openReplay(
  services: RecordServices,
  turnId: string,
  signal: AbortSignal,
): Promise<OpenedReplay | IncompleteOutcome | null> {
  const record = await readTurnRecord(services, turnId, signal);
  if (record === null || 'kind' in record) return record;
  const { history, log } = services;
  const contextTokens = services.contextTokens?.(record.prompt.model);
  const rebuilt = rebuildRequest(record, { history, contextTokens }, log);
  if (typeof rebuilt === 'string') return createIncomplete(record.about, rebuilt);
  return { record, rebuilt };
}

/**
 * Runs a recorded turn again (G22): with its recorded request, or with another model, file or
 * profile. Nothing is stored, sent or written. Null if nothing of the turn is known.
 */
export async function replayRecordedTurn(
  services: ReplayServices,
  turnId: string,
  asked: ReplayRequest,
  signal: AbortSignal,
): Promise<ReplayOutcome | null> {
  const opened = await openReplay(services, turnId, signal);
  if (opened === null || 'kind' in opened) return opened;
  const { record, rebuilt } = opened;
  const { about, before } = record;
  const changed = await applyChange(services, opened, asked, signal);
  const changes = compareRequests(rebuilt, changed);
  if (asked.model === null) {
    const kind = changes.length === 0 ? 'same' : 'changed';
    return { ...about, kind, before, after: null, changes };
  }
  const { checks, clock, monotonic } = services;
  const limits = { ...DEFAULT_TURN_LIMITS, ...services.limits };
  const live = asked.liveReads && { ...asked.liveReads, limits, clock };
  const runUnknown = live && (await openLiveReads(record, live, signal));
  const parts = { model: asked.model, limits, checks, clock, monotonic, runUnknown };
  const replayed = await replayTurn(record, changed, parts, signal);
  if (replayed.kind === 'failed') return { ...about, before, ...replayed };
  const all = [...changes, ...compareAnswers(before, replayed.after)];
  if (replayed.kind === 'diverged') return { ...about, before, ...replayed, changes: all };
  const kind = all.some(isNoticeable) ? 'changed' : 'same';
  return { ...about, kind, before, after: replayed.after, changes: all };
}

/** Returns the same object if nothing changes. */
async function applyChange(
  { history, log }: ReplayServices,
  { record, rebuilt }: OpenedReplay,
  { contextTokens, change }: ReplayRequest,
  signal: AbortSignal,
): Promise<RebuiltTurn> {
  if (change === undefined && contextTokens === undefined) return rebuilt;
  const { draft, tools } =
    change === undefined ? rebuilt : await changePrompt(record, rebuilt, change, signal);
  const limited = { ...draft, history, ...(contextTokens !== undefined && { contextTokens }) };
  return completeRequest(record, limited, tools, log);
}

export type { RecordServices } from './recorded-turn.ts';
