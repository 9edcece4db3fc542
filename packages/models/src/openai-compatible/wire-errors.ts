import { isObject, type JsonObject } from '../json-object.ts';
import { parseJson, toLenientNumber, toNonEmptyText } from './json-scan.ts';

/** The maximum length of an error that is kept, in characters. */
const MAX_BODY = 20_000;

/** An error that a server sent instead of an answer, with the fields that `collectCallFailureDetails` reads. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /**
   * The HTTP status, or the status inside an error that came with 200; null if there is neither.
   */
  readonly statusCode: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The body as JSON, as the server wrote it. */
  readonly responseBody: string;

  constructor(
    message: string,
    statusCode: number | null,
    responseBody: string,
    responseHeaders: Readonly<Record<string, string>>,
  ) {
    super(message);
    this.statusCode = statusCode;
    this.responseBody = responseBody.slice(0, MAX_BODY);
    this.responseHeaders = responseHeaders;
  }
}

/** Converts the response from a server that refused a request, including its explanation. */
export function toWireError(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): WireError {
  // The body may be a stream that was opened before the request failed, or a list with one error,
  // as Gemini sends it.
  const text = body
    .trim()
    .replace(/^(?:event:[^\n]*\n)?\s*data:\s*/, '')
    .replace(/^\[\s*(\{[\s\S]*\})\s*\]$/, '$1');
  const parsed = parseJson(text);
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const message = isObject(parsed) ? readErrorMessage(parsed) : null;
  return new WireError(
    message ?? STATUS_CODES[status] ?? `status ${status}`,
    status,
    text,
    headers,
  );
}

/**
 * Returns the error inside an answer with status 200; null if the chunk does not contain an error.
 * Servers write the error as text or as an object, in the chunk or in its choice, or the chunk
 * itself is the error.
 */
export function findChunkError(
  chunk: JsonObject,
  event: {
    readonly name: string;
    readonly headers: Readonly<Record<string, string>>;
    /**
     * Whether the chunk also contains an answer; then only a dedicated field counts as an error.
     */
    readonly isAnswer: boolean;
  },
): WireError | null {
  const found =
    findErrorField(chunk) ?? (event.isAnswer ? null : findUnwrappedError(chunk, event.name));
  if (found === null) return null;
  const error = typeof found === 'string' ? { message: found } : found;
  const status = readStatus(error) ?? readStatus(chunk);
  const message = readErrorMessage(error) ?? readErrorMessage(chunk);
  // Normalizes the error for the code that reads errors, which also handles a message that is not
  // text.
  const body = JSON.stringify({ error: { ...error, ...(message !== null && { message }) } });
  return new WireError(message ?? '', status, body, event.headers);
}

function findErrorField(chunk: JsonObject): JsonObject | string | null {
  const { choices, error, base_resp: base } = chunk;
  const choice: unknown = Array.isArray(choices) ? choices[0] : choices;
  for (const one of [error, isObject(choice) ? choice.error : null]) {
    if (isObject(one) && !isSuccessResponse(one)) return one;
    const text = toNonEmptyText(one);
    if (text !== null) return text;
  }
  // MiniMax sends its status in each chunk.
  if (!isObject(base) || !toLenientNumber(base.status_code)) return null;
  return {
    code: toLenientNumber(base.status_code),
    message: toNonEmptyText(base.status_msg) ?? '',
  };
}

/** Some gateways send an empty error, or an error with a success code, with each answer. */
function isSuccessResponse({ code, ...rest }: JsonObject): boolean {
  return isSuccessCode(code) || (!code && Object.values(rest).every((value) => !value));
}

function isSuccessCode(code: unknown): boolean {
  return /^(0|200|ok|success)$/i.test(String(code));
}

/**
 * An object that is an error as a whole, such as FastAPI's `detail`, vLLM's `object: error`, or a
 * code with a message.
 */
function findUnwrappedError(chunk: JsonObject, eventName: string): JsonObject | null {
  const { object, type, detail, errors, error, status, success } = chunk;
  const code = chunk.code ?? chunk.error_code;
  const isNamed = /error/i.test(eventName) || object === 'error' || type === 'error';
  const isFailed =
    success === false || error === true || /^(error|fail(ed|ure)?)$/i.test(String(status));
  const isCoded = (toLenientNumber(code) ?? toNonEmptyText(code)) !== null && !isSuccessCode(code);
  const hasDetail =
    toNonEmptyText(detail) !== null || (typeof detail === 'object' && detail !== null);
  const [first]: unknown[] = Array.isArray(errors) ? errors : [];
  const isListed = isObject(first) || toNonEmptyText(first) !== null;
  const isError =
    isNamed || isFailed || isListed || hasDetail || (isCoded && readErrorMessage(chunk) !== null);
  if (!isError) return null;
  if (isObject(first)) return { ...chunk, ...first };
  return toNonEmptyText(first) === null ? chunk : { ...chunk, message: first };
}

/** HTTP error statuses; other numbers are codes defined by the provider. */
function readStatus(error: JsonObject): number | null {
  const codes = [error.status, error.status_code, error.code, error.http_code, error.statusCode];
  const found = codes
    .map(toLenientNumber)
    .find((code) => code !== null && code >= 400 && code < 600);
  return found ?? null;
}

/** The fields in which servers describe an error, the most precise first. */
const MESSAGES = [
  'message',
  'msg',
  'error_msg',
  'error_message',
  'detail',
  'reason',
  'description',
  'title',
] as const;

function readErrorMessage(error: JsonObject): string | null {
  const inner = isObject(error.error) ? readErrorMessage(error.error) : toNonEmptyText(error.error);
  if (inner !== null) return inner;
  const own = MESSAGES.map((name) => toNonEmptyText(error[name])).find((text) => text !== null);
  if (own !== undefined) return own;
  const { detail } = error;
  const [first]: unknown[] = Array.isArray(detail) ? detail : [detail];
  return isObject(first) ? (toNonEmptyText(first.msg) ?? toNonEmptyText(first.message)) : null;
}
