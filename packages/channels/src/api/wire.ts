import type { AnswerUsage } from '@parley/store';

/** An error in OpenAI's format. */
export interface ApiError {
  readonly status: 400 | 401 | 404 | 405 | 409 | 413 | 429 | 500 | 503 | 504;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  /** The allowed methods of a 405 response. */
  readonly allow?: string | undefined;
}

export function createBadRequestError(message: string, code: string): ApiError {
  return { status: 400, code, message };
}

function getApiErrorType({ status }: ApiError): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

export function toErrorBody(error: ApiError): object {
  const { message, code } = error;
  return { error: { message, type: getApiErrorType(error), param: null, code } };
}

export function toErrorResponse(error: ApiError): Response {
  const { status, retryAfterSeconds, allow } = error;
  return Response.json(toErrorBody(error), {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(allow !== undefined && { allow }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
  });
}

/** The fields that all chunks of a completion share. */
export interface Completion {
  readonly id: string;
  /** The agent's name as a model. */
  readonly model: string;
  /** In seconds since 1970. */
  readonly created: number;
}

export function toCompletionBody(about: Completion, text: string, usage: AnswerUsage): object {
  const message = { role: 'assistant', content: text, refusal: null };
  const choice = { index: 0, message, logprobs: null, finish_reason: 'stop' };
  return { ...about, object: 'chat.completion', choices: [choice], usage: toUsageBody(usage) };
}

type CompletionDelta =
  | { readonly role: 'assistant'; readonly content: '' }
  | { readonly content?: string };

export function toChunkBody(
  about: Completion,
  delta: CompletionDelta,
  finish: 'stop' | null,
): object {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
  return { ...about, object: 'chat.completion.chunk', choices: [choice] };
}

/** The last event of a stream whose client asked for the usage. */
export function toUsageChunk(about: Completion, usage: AnswerUsage): object {
  return { ...about, object: 'chat.completion.chunk', choices: [], usage: toUsageBody(usage) };
}

function toUsageBody({ inputTokens, outputTokens, cachedTokens }: AnswerUsage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

export function toModelBody(id: string, created: number): object {
  return { id, object: 'model', created, owned_by: 'parley' };
}
