import type { ModelFailure } from './model-error.ts';

/** Longest quotation of a provider's own words, in characters. */
const MAX_QUOTE = 200;

/** Who failed, for people. */
export interface FailedModel {
  /** `provider/model`. */
  readonly id: string;
  /** Host and port of the server. */
  readonly server: string;
}

/**
 * Says in plain words what happened, to which model, and what to do. `words` is what the provider
 * said; it is quoted only where it helps, and never for a refused key, because some echo the key.
 */
export function explainFailure(failure: ModelFailure, model: FailedModel, words: string): string {
  const { id, server } = model;
  switch (failure.kind) {
    case 'unreachable':
      return `The model ${id} cannot be reached at ${server}. Check that the server runs and that baseUrl in the settings is right.`;
    case 'broken-off':
      return `The connection to ${id} at ${server} broke off before the answer was complete. Try again.`;
    case 'unauthorised':
      return `${server} refused the key for ${id}. Check apiKey in the settings.`;
    case 'no-credit':
      return `The account for ${id} at ${server} has no credit left. Add credit or set another model.`;
    case 'not-found':
      return `${server} knows no model or address for ${id}. Check model and baseUrl in the settings; baseUrl usually ends in /v1.`;
    case 'rate-limited':
      return `${id} is asked too often just now${waiting(failure.retryAfterMs)}. Try again later or set a fallback model.`;
    case 'overloaded':
      return `${id} at ${server} is overloaded or has an error of its own${quote(words)}. Try again later or set a fallback model.`;
    case 'too-long':
      return `The conversation is too long for ${id}. Start a new session or use a model with a larger context.`;
    case 'refused':
      return `${id} at ${server} did not accept the request${quote(words)}. Check the model settings.`;
    case 'no-tools':
      return `${id} at ${server} cannot use tools${quote(words)}. Use a model that can.`;
    case 'filtered':
      return `${id} declined to answer because of its content filter. Put the request in other words.`;
    case 'rubbish':
      return `${server} answered for ${id} with something that is not a model's answer${quote(words)}. Check baseUrl in the settings; it usually ends in /v1.`;
    case 'empty':
      return `${id} sent an empty answer. Try again, or use another model if it happens often.`;
    case 'timeout':
      return explainTimeout(failure.phase, model);
    case 'aborted':
      return `The call to ${id} was stopped on request.`;
  }
}

function explainTimeout(
  phase: 'first-token' | 'stalled' | 'total',
  { id, server }: FailedModel,
): string {
  switch (phase) {
    case 'first-token':
      return `${id} at ${server} took too long to begin its answer. Try again, or raise timeouts.firstTokenMs for a slow model.`;
    case 'stalled':
      return `${id} at ${server} stopped in the middle of its answer. Try again.`;
    case 'total':
      return `${id} at ${server} took longer for its answer than timeouts.totalMs allows.`;
  }
}

function waiting(retryAfterMs: number | null): string {
  return retryAfterMs === null ? '' : ` and wants ${Math.ceil(retryAfterMs / 1000)} s of rest`;
}

function quote(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  return ` (“${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}”)`;
}
