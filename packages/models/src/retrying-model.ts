import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import { withSecondTry } from './second-try.ts';

/** Waits so many ms, or less when `signal` is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Longest wait before the second try, in ms; a longer rest is the caller's business. */
const LONGEST_WAIT_MS = 2_000;
const OVERLOAD_WAIT_MS = 500;

/**
 * How long to wait before asking the same model once more, in ms; null means not to. A connection that
 * broke off is usually a kept-alive one the server had just closed, so it is tried again at once.
 */
export function retryDelay(failure: ModelFailure): number | null {
  switch (failure.kind) {
    case 'broken-off':
      return 0;
    case 'overloaded':
      return OVERLOAD_WAIT_MS;
    case 'rate-limited': {
      const wait = failure.retryAfterMs;
      return wait !== null && wait <= LONGEST_WAIT_MS ? wait : null;
    }
    default:
      return null;
  }
}

/** Asks `model` a second time when the first try failed for a short-lived reason and said nothing. */
export function retryingModel(model: ChatModel, sleep: Sleep): ChatModel {
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    return withSecondTry(model.stream(request, signal), signal, async (failure) => {
      const delay = failure instanceof ModelError ? retryDelay(failure.failure) : null;
      if (delay === null) return null;
      await sleep(delay, signal);
      return model.stream(request, signal);
    });
  }
  return {
    get id() {
      return model.id;
    },
    stream,
  };
}
