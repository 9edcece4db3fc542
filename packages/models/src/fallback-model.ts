import type { Logger } from '@parley/contracts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { ModelError } from './model-error.ts';

/**
 * Asks `first`, and the others in order when the one before failed without having said a word. An
 * aborted call is never passed on. When all fail, the error names every one of them.
 */
export function fallbackModel(
  first: ChatModel,
  others: readonly ChatModel[],
  logger: Logger,
): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const failures: ModelError[] = [];
    for (const model of [first, ...others]) {
      let spoke = false;
      try {
        for await (const event of model.stream(request, signal)) {
          spoke = true;
          yield event;
        }
        return;
      } catch (thrown) {
        if (!(thrown instanceof ModelError) || spoke || signal.aborted) throw thrown;
        failures.push(thrown);
        logger.warn(
          { model: model.id, code: thrown.code },
          `${thrown.message} The next model is asked.`,
        );
      }
    }
    throw allFailed(failures);
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
