import type { Logger } from '@parley/contracts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { ModelError } from './model-error.ts';
import { withSecondTry } from './second-try.ts';

/**
 * Asks `first`, and the others in order when the one before failed without having said a word. An
 * aborted call is never passed on. When all fail, the error names every one of them.
 */
export function fallbackModel(
  first: ChatModel,
  others: readonly ChatModel[],
  logger: Logger,
): ChatModel {
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const failures: ModelError[] = [];
    const ask = (
      model: ChatModel,
      [next, ...rest]: readonly ChatModel[],
    ): AsyncIterable<ModelEvent> =>
      withSecondTry(model.stream(request, signal), signal, (failure) => {
        if (!(failure instanceof ModelError)) return null;
        failures.push(failure);
        if (next === undefined) throw allFailed(failures);
        const { code, message } = failure;
        logger.warn({ model: model.id, code }, `${message} The next model is asked.`);
        return ask(next, rest);
      });
    return ask(first, others);
  }
  return { id: first.id, stream };
}

/** One error for all: it may be retried when any of them may. */
function allFailed(failures: readonly ModelError[]): ModelError | Error {
  const told = failures.find((failure) => failure.retryable) ?? failures[0];
  if (told === undefined || failures.length === 1) return told ?? new Error('no model was asked');
  const message = failures.map((failure) => failure.message).join(' ');
  return new ModelError(told.failure, told.model, message, told.cause);
}
