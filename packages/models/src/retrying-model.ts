import type { Logger } from '@parley/core';
import {
  type ChatModel,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
} from './chat-model.ts';
import { withStream } from './retry.ts';

/** The number of consecutive attempts with one model, and the maximum delays, in ms. */
export interface RetryPatience {
  readonly tries: number;
  /**
   * The maximum single delay; if a provider asks for a longer delay, this function does not retry.
   */
  readonly waitMs: number;
  /** The maximum total of all delays. */
  readonly totalMs: number;
  /** Whether to retry if a model timed out or cannot be reached. */
  readonly asksSilent: boolean;
}

/** The limits for the last model, where a longer delay is better than no answer. */
export const PATIENT: RetryPatience = {
  tries: 4,
  waitMs: 15_000,
  totalMs: 30_000,
  asksSilent: true,
};
/** The limits for a model with a fallback, which can answer before a longer delay would end. */
export const HASTY: RetryPatience = { tries: 2, waitMs: 2_000, totalMs: 2_000, asksSilent: false };

/** The initial delays, in ms; each further delay is twice as long. */
const PAUSES = { 'broken-off': 500, overloaded: 500, 'rate-limited': 1_000, short: 250 } as const;
/**
 * A delay requested by the provider is extended by up to this share, so that callers do not all
 * retry at the same moment.
 */
const JITTER = 0.1;
const MAX_JITTER_MS = 500;

interface FailedModelCall {
  readonly failure: ModelFailure;
  /** The number of attempts so far. */
  readonly tries: number;
  readonly patience: RetryPatience;
  /** A random number in [0, 1). */
  readonly random: number;
}

/**
 * Returns the delay before the same model is called again, in ms; null if it is not called again. A
 * dropped connection is usually a kept-alive connection that the server has just closed, so the
 * request is retried immediately.
 */
export function computeRetryDelay({
  failure,
  tries,
  patience,
  random,
}: FailedModelCall): number | null {
  if (tries >= patience.tries) return null;
  const delay = computeFailureDelay(failure, tries, patience, random);
  return delay === null || delay > patience.waitMs * (1 + JITTER) ? null : Math.round(delay);
}

function computeFailureDelay(
  failure: ModelFailure,
  tries: number,
  patience: RetryPatience,
  random: number,
): number | null {
  const growing = (first: number) => first * 2 ** (tries - 1) * (0.75 + random / 2);
  switch (failure.kind) {
    case 'broken-off':
      return tries === 1 ? 0 : growing(PAUSES['broken-off'] / 2);
    case 'overloaded':
    case 'rate-limited': {
      const wanted = failure.retryAfterMs ?? null;
      if (wanted === null) return growing(PAUSES[failure.kind]);
      return wanted > patience.waitMs
        ? null
        : wanted + Math.min(wanted * JITTER, MAX_JITTER_MS) * random;
    }
    case 'rubbish':
    case 'empty':
      return tries === 1 ? growing(PAUSES.short) : null;
    case 'unreachable': {
      const mayPass = patience.asksSilent && failure.because === undefined;
      return mayPass && tries === 1 ? growing(PAUSES.overloaded) : null;
    }
    case 'timeout':
      return patience.asksSilent && failure.phase !== 'total' && tries === 1 ? 0 : null;
    default:
      return null;
  }
}

export interface RetryingDeps {
  /** Waits for `ms`, or until `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly patience: RetryPatience;
  readonly logger: Logger;
}

/**
 * Calls `model` again if a call failed for a temporary reason before anything final was passed on.
 * Tool calls are held back until the answer is complete, because a call in an answer that breaks
 * off may be incomplete.
 */
export function createRetryingModel(model: ChatModel, deps: RetryingDeps): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    let waited = 0;
    for (let tries = 1; ; tries += 1) {
      const call = { spoke: false };
      try {
        yield* holdCallsUntilEnd(model.stream(request, signal), call, tries);
        return;
      } catch (thrown) {
        const delay = call.spoke || signal.aborted ? null : delayOf(thrown, request, tries);
        if (delay === null || waited + delay > deps.patience.totalMs) throw thrown;
        const code = thrown instanceof ModelError ? thrown.code : '';
        deps.logger.info({ model: model.id, code, tries, ms: delay }, 'calling the model again');
        waited += delay;
        await deps.sleep(delay, signal);
      }
    }
  }

  function delayOf(thrown: unknown, request: ModelRequest, tries: number): number | null {
    if (!(thrown instanceof ModelError)) return null;
    const { failure } = thrown;
    // The caller rephrases the request after this failure.
    if (failure.kind === 'empty' && request.messages.some(({ role }) => role === 'tool'))
      return null;
    return computeRetryDelay({ failure, tries, patience: deps.patience, random: deps.random() });
  }

  return withStream(model, stream);
}

/**
 * Yields the events of one attempt; its calls follow once it has finished. Sets a flag in `call`
 * when an event is passed on.
 */
async function* holdCallsUntilEnd(
  events: AsyncIterable<ModelEvent>,
  call: { spoke: boolean },
  tries: number,
): AsyncGenerator<ModelEvent> {
  const held: ModelEvent[] = [];
  for await (const event of events) {
    if (event.type === 'tool-call') {
      held.push(event);
      continue;
    }
    call.spoke = true;
    if (event.type !== 'finish') yield event;
    else {
      yield* held;
      yield tries === 1 ? event : { ...event, tries: (event.tries ?? 1) + tries - 1 };
    }
  }
}
