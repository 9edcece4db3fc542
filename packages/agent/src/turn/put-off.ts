import type { ModelFailure } from '@parley/models';
import type { Lease } from '@parley/store';
import { postNotice } from '../post-message.ts';
import type { NoAnswer } from './answer-turn.ts';
import type { TurnOutcome } from './commit-answer.ts';
import type { TurnServices } from './means.ts';
import type { Turn } from './turn.ts';

/** How long a question is kept by default, in ms. */
const DEFAULT_MODEL_AWAY_MS = 10 * 60_000;

const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Postpones a turn whose model is unavailable, and reports that once in its chat. The lane is free
 * until the next attempt, which answers the question if the model is available again. Null if the
 * turn must fail now: after another kind of failure, for a model that has been unavailable for too
 * long, and for a program, which can retry by itself.
 */
export async function postponeTurn(
  services: TurnServices,
  turn: Turn,
  lease: Lease,
  { reason, failure }: Extract<NoAnswer, { notice: string }>,
): Promise<TurnOutcome | null> {
  const { modelAwayMs: waitMs = DEFAULT_MODEL_AWAY_MS, store } = services;
  const now = services.clock();
  if (failure === undefined || turn.route.appends === true) return null;
  const pause = computeRetryDelay({ failure, awayMs: now - (turn.putOffSince ?? now), waitMs });
  if (pause === null) return null;
  const { turnId } = turn;
  const until = now + pause;
  const stored = await store.lanes.putOff(lease, { turnId, until, reason }, now);
  if (stored === 'fenced') return { outcome: 'fenced' };
  // Only an owner is told about servers and settings.
  const why = turn.reader.kind === 'owner' ? reason : 'My model is not answering right now.';
  await sendNoticeOnce(services, turn, `${why} ${describePostponement(waitMs)}`);
  return { outcome: 'put-off', reason };
}

/** Sends the notice once. No person waits for a turn that Parley started itself. */
async function sendNoticeOnce(services: TurnServices, turn: Turn, markdown: string): Promise<void> {
  const { messages, conversationId, route } = turn;
  const [first] = messages;
  const asksPerson = messages.some(({ message }) => message.trigger === undefined);
  if (first === undefined || !asksPerson) return;
  // A later turn that includes this message uses the same key.
  const key = `${conversationId}.away.${first.seq}`;
  await postNotice(services, { key, route, conversationId, markdown });
}

function describePostponement(waitMs: number): string {
  const minutes = Math.max(1, Math.round(waitMs / 60_000));
  const within = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return `I’ll keep your question and answer it when the model is back, within ${within}. /stop cancels it.`;
}

interface ModelOutage {
  readonly failure: ModelFailure;
  /** How long the model has been unavailable. */
  readonly awayMs: number;
  /** How long a question is kept. */
  readonly waitMs: number;
}

/**
 * The delay before the model is called again, in ms: half the time it has been unavailable, or as
 * long as the provider demands. Null if it is not called again.
 */
export function computeRetryDelay({ failure, awayMs, waitMs }: ModelOutage): number | null {
  if (!isTemporary(failure)) return null;
  const half = Math.min(Math.max(awayMs / 2, MIN_PAUSE_MS), MAX_PAUSE_MS);
  const wanted = failure.kind === 'rate-limited' ? (failure.retryAfterMs ?? 0) : 0;
  const pause = Math.round(Math.max(half, wanted));
  return awayMs + pause > waitMs ? null : pause;
}

/**
 * Whether the same request may succeed later. A model that took too long for its whole answer would
 * time out again.
 */
function isTemporary(failure: ModelFailure): boolean {
  switch (failure.kind) {
    case 'unreachable':
    case 'broken-off':
    case 'overloaded':
    case 'rate-limited':
      return true;
    case 'timeout':
      return failure.phase !== 'total';
    default:
      return false;
  }
}
