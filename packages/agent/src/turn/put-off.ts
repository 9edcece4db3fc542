import type { ModelFailure } from '@parley/models';
import type { Lease } from '@parley/store';
import { postNotice } from '../post-message.ts';
import type { NoAnswer } from './answer-turn.ts';
import type { Ending } from './commit-answer.ts';
import type { TurnServices } from './means.ts';
import type { Turn } from './turn.ts';

/** The time for which a question is kept unless the settings name another, in ms. */
const DEFAULT_MODEL_AWAY_MS = 10 * 60_000;

const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Puts a turn off whose model is away, and says so in its chat, once: the lane is free until the next attempt,
 * and the question is answered when the model is back. Null where it fails now: another failure, a model
 * that is away for too long, or an answer that a program waits for, which can ask again itself.
 */
export async function putOff(
  services: TurnServices,
  turn: Turn,
  lease: Lease,
  { reason, failure }: Extract<NoAnswer, { notice: string }>,
): Promise<Ending | null> {
  const { modelAwayMs: waitMs = DEFAULT_MODEL_AWAY_MS, store } = services;
  const now = services.clock();
  if (failure === undefined || turn.route.appends === true) return null;
  const pause = pauseBefore({ failure, awayMs: now - (turn.putOffSince ?? now), waitMs });
  if (pause === null) return null;
  const { turnId } = turn;
  const until = now + pause;
  const stored = await store.lanes.putOff(lease, { turnId, until, reason }, now);
  if (stored === 'fenced') return { outcome: 'fenced' };
  // Only an owner reads about servers and settings.
  const why = turn.reader.kind === 'owner' ? reason : 'My model does not answer just now.';
  await notifyOnce(services, turn, `${why} ${keptText(waitMs)}`);
  return { outcome: 'put-off', reason };
}

/** No person waits for what Parley does by itself, and a notice that was sent is not sent again. */
async function notifyOnce(services: TurnServices, turn: Turn, markdown: string): Promise<void> {
  const { messages, conversationId, route } = turn;
  const [first] = messages;
  const asksPerson = messages.some(({ message }) => message.trigger === undefined);
  if (first === undefined || !asksPerson) return;
  // A later turn that answers the same message, too, has the same key.
  const key = `${conversationId}.away.${first.seq}`;
  await postNotice(services, { key, route, conversationId, markdown });
}

function keptText(waitMs: number): string {
  const minutes = Math.max(1, Math.round(waitMs / 60_000));
  const within = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return `I keep your question and answer it when the model is back, within ${within}. /stop drops it.`;
}

interface Away {
  readonly failure: ModelFailure;
  /** For how long the model has been away. */
  readonly awayMs: number;
  /** For how long a question is kept. */
  readonly waitMs: number;
}

/**
 * The pause before the model is asked again, in ms: half as long as it has been away, or as long as the provider
 * wants. Null: it is not asked again.
 */
export function pauseBefore({ failure, awayMs, waitMs }: Away): number | null {
  if (!isAway(failure)) return null;
  const half = Math.min(Math.max(awayMs / 2, MIN_PAUSE_MS), MAX_PAUSE_MS);
  const wanted = failure.kind === 'rate-limited' ? (failure.retryAfterMs ?? 0) : 0;
  const pause = Math.round(Math.max(half, wanted));
  return awayMs + pause > waitMs ? null : pause;
}

/** Whether the same request may succeed later. A model that took too long for its whole answer would again. */
function isAway(failure: ModelFailure): boolean {
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
