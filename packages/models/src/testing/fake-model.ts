import { type ChatModel, ModelError, type ModelEvent, type ModelFailure } from '../chat-model.ts';

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: false };

/** For tests: a model that answers `text`. */
export function createFakeModel(id: string, text: string): ChatModel {
  return {
    id,
    async *stream() {
      yield { type: 'text', text };
      yield { type: 'finish', text, usage, finishReason: 'stop', model: id, costUsd: 0 };
    },
  };
}

/**
 * For tests: a model that fails `times` times, after sending `first` if given, and then succeeds.
 */
export function createBrokenModel(
  id: string,
  failure: ModelFailure,
  options: { first?: string; times?: number } = {},
): ChatModel {
  let left = options.times ?? Number.POSITIVE_INFINITY;
  return {
    id,
    async *stream(request, signal) {
      left -= 1;
      if (left < 0) {
        yield* createFakeModel(id, 'works again').stream(request, signal);
        return;
      }
      if (options.first !== undefined) yield { type: 'text', text: options.first };
      throw new ModelError(failure, id, `${id} failed.`);
    },
  };
}

/** For tests: calls a model and returns all the text that it streamed. */
export async function collectModelText(
  model: ChatModel,
  signal: AbortSignal = new AbortController().signal,
  seen: ModelEvent[] = [],
): Promise<string> {
  let text = '';
  const request = { system: [], messages: [{ role: 'user', content: 'hi' } as const] };
  for await (const event of model.stream(request, signal)) {
    seen.push(event);
    if (event.type === 'text') text += event.text;
  }
  return text;
}
