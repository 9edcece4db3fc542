import {
  type ChatModel,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
} from './chat-model.ts';
import { withSecondTry, withStream } from './retry.ts';

/**
 * The usual limit, in tokens, of servers that do not state their limit; half of it is tried first.
 */
const USUAL_LIMIT = 8_192;
const MIN_LIMIT = 256;
const MAX_TRIES = 3;

/**
 * Requests a shorter answer if the requested length is more than the model allows. A model's limit
 * is remembered, but not the space that remained after one long request.
 */
export function createOutputLimitModel(model: ChatModel): ChatModel {
  let allowed = Number.POSITIVE_INFINITY;
  const ask = (
    request: ModelRequest,
    signal: AbortSignal,
    tries: number,
  ): AsyncIterable<ModelEvent> =>
    withSecondTry(model.stream(request, signal), signal, (thrown) => {
      const failure = thrown instanceof ModelError ? thrown.failure : null;
      if (failure?.kind !== 'output-limit' || tries >= MAX_TRIES) return null;
      const limit = reduceOutputLimit(request.maxOutputTokens, failure);
      if (limit === null) return null;
      if (failure.windowTokens === undefined) allowed = Math.min(allowed, limit);
      return ask({ ...request, maxOutputTokens: limit }, signal, tries + 1);
    });
  return withStream(model, (request, signal) => {
    const wanted = request.maxOutputTokens ?? allowed;
    const isCapped = allowed < Number.POSITIVE_INFINITY && wanted >= allowed;
    return ask(isCapped ? { ...request, maxOutputTokens: allowed } : request, signal, 1);
  });
}

/** Returns null if no smaller length can be requested. */
function reduceOutputLimit(
  asked: number | undefined,
  { limitTokens }: Extract<ModelFailure, { kind: 'output-limit' }>,
): number | null {
  const half = Math.floor((asked ?? USUAL_LIMIT) / 2);
  const isSmaller = limitTokens !== null && limitTokens < (asked ?? Number.POSITIVE_INFINITY);
  const limit = isSmaller ? limitTokens : half;
  return limit < MIN_LIMIT ? null : limit;
}
