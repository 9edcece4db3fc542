import { z } from 'zod';
import type { ModelFailure } from './chat-model.ts';
import { parseLengthRefusal } from './context-full.ts';
import { type ErrorBody, parseStatus, readErrorBody, readErrorValue } from './error-body.ts';
import {
  BLOCKED,
  FILTERED,
  MESSAGE_ORDER,
  NO_CREDIT,
  NO_TOOLS,
  NOT_FOUND,
  OVERLOADED,
  RATE_LIMITED,
  UNAUTHORISED,
  WRONG_PLACE,
} from './failure-words.ts';
import { findRetryAfterMs } from './retry-after.ts';

/** The facts about a failed call, extracted from the thrown value. */
export interface CallFailureDetails {
  readonly name: string;
  /** The most specific message from the server, otherwise the error's own message. */
  readonly message: string;
  /**
   * The HTTP status, or the status named by an error inside an answer; null if there is neither.
   */
  readonly status: number | null;
  /** The error code defined by the provider, such as `context_length_exceeded`. */
  readonly type: string | null;
  /** The code from a socket or from `fetch`, such as `ECONNREFUSED`. */
  readonly networkCode: string | null;
  /** The response headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

const Thrown = z.object({
  name: z.string().catch(''),
  message: z.string().catch(''),
  statusCode: z.unknown().optional(),
  status: z.unknown().optional(),
  responseHeaders: z.record(z.string(), z.string()).catch({}),
  responseBody: z.string().catch(''),
  code: z.unknown().optional(),
  cause: z.unknown().optional(),
});

/**
 * Codes for sockets, name lookup, certificates, HTTP parsing and `fetch`; codes defined by
 * providers look different.
 */
const NETWORK_CODE =
  /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|EADDR|ETIMEDOUT|EPIPE|EPROTO|UND_ERR_|CERT_|ERR_TLS|ERR_SSL|ERR_HTTP2|ERR_STREAM|HPE_|Z_|DEPTH_|SELF_|UNABLE_)/;
/** Messages about broken connections that have no code. */
const BROKEN_OFF =
  /goaway|socket hang up|premature close|other side closed|connection (?:was |has been )?(?:reset|closed|lost|aborted|terminated)|network (?:error|connection lost)|^terminated$|^fetch failed$/i;

/**
 * The depth to which a chain of causes is followed; `fetch` nests two causes, and the AI SDK adds
 * up to two more.
 */
const MAX_CAUSES = 6;

/**
 * Extracts facts from any thrown value, by its shape, because loading the AI SDK's error classes
 * would cost 100 ms.
 */
export function collectCallFailureDetails(thrown: unknown): CallFailureDetails {
  const top = Thrown.safeParse(thrown);
  if (!top.success) {
    const body = readErrorBody(typeof thrown === 'string' ? thrown : '');
    const message = findMainMessage(body) ?? '';
    return {
      name: '',
      message,
      status: body.status,
      type: body.words[0] ?? null,
      networkCode: null,
      headers: {},
      body,
    };
  }
  const { data } = top;
  const headers = Object.fromEntries(
    Object.entries(data.responseHeaders).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const isPlain = !(thrown instanceof Error) && data.responseBody === '';
  const read = isPlain ? readErrorValue(thrown) : readErrorBody(data.responseBody);
  const body = {
    ...read,
    isPage: read.isPage || isPageType(headers['content-type'], data.responseBody),
  };
  const outer = parseStatus(data.statusCode) ?? parseStatus(data.status) ?? parseStatus(data.code);
  return {
    name: data.name,
    message: findMainMessage(body) ?? data.message,
    status: resolveStatus(outer, body.status),
    type: headers['x-amzn-errortype']?.split(':')[0] ?? body.words[0] ?? null,
    networkCode: findNetworkCode(thrown),
    headers,
    body,
  };
}

function isPageType(contentType: string | undefined, body: string): boolean {
  return contentType?.includes('text/html') === true && body !== '' && !/^\s*[{[]/.test(body);
}

/** Messages from gateways that only wrap the provider's message. */
const WRAPPER =
  /^(?:provider returned error|upstream error|bad request|error|internal server error|invalid request|request failed|.{0,40}status code \(no body\))\.?$/i;

function findMainMessage({ messages }: ErrorBody): string | undefined {
  return messages.find((message) => !WRAPPER.test(message)) ?? messages[0];
}

/** A gateway may wrap the provider's status in its own response. */
function resolveStatus(outer: number | null, inner: number | null): number | null {
  if (outer === null) return inner;
  const isWrapper = outer === 400 || outer === 500 || outer === 502;
  return isWrapper && inner !== null && [402, 413, 429, 503, 529].includes(inner) ? inner : outer;
}

function findNetworkCode(thrown: unknown): string | null {
  let current = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const link = Thrown.safeParse(current);
    if (!link.success) return null;
    const { code, cause } = link.data;
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return code;
    current = cause;
  }
  return null;
}

const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_|SELF_|UNABLE_)/;
const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EADDR|ETIMEDOUT|UND_ERR_CONNECT|ERR_TLS)/;
const SILENT = /^UND_ERR_(HEADERS|BODY)_TIMEOUT/;
/** Messages from `httpFetch` and, if it fails on the first event, from the AI SDK. */
const OVERSIZED = /it sent more than \d+ bytes at once|failed to process successful response/i;

/**
 * Classifies a failed call. The server's own statement takes precedence, wherever it appears in the
 * response, because many servers use one status for everything; then the status, then the network.
 * `now` is ms since 1970, for dates in `Retry-After`.
 */
export function classifyFailure(facts: CallFailureDetails, now: number): ModelFailure {
  const failure = decideFailureKind(facts, now);
  if (failure.kind !== 'overloaded') return failure;
  const { headers, body, message } = facts;
  // Such responses also report rate limits, which are not the reason.
  const asked = Object.entries(headers).filter(([header]) => header.startsWith('retry-after'));
  const sources = { headers: Object.fromEntries(asked), fields: body.fields, text: message };
  const rest = findRetryAfterMs(sources, now);
  return rest === null ? failure : { ...failure, retryAfterMs: rest };
}

function decideFailureKind(facts: CallFailureDetails, now: number): ModelFailure {
  const { status, name, networkCode } = facts;
  const failed = status !== null && status >= 400;
  if (failed || networkCode === null) {
    const byText = classifyText(facts, now);
    if (byText !== null) return byText;
  }
  if (status !== null && failed) return classifyStatus(status, facts, now);
  if (networkCode !== null) return classifyNetwork(networkCode);
  if (/JSONParse|TypeValidation|InvalidResponse/.test(name)) return { kind: 'rubbish' };
  if (OVERSIZED.test(facts.message) || facts.body.isPage) return { kind: 'rubbish' };
  if (/EmptyResponseBody/.test(name)) return { kind: 'empty' };
  if (BROKEN_OFF.test(facts.message)) return { kind: 'broken-off' };
  return { kind: 'refused' };
}

function joinFailureText({ type, message, body }: CallFailureDetails): string {
  const numbers = Object.entries(body.fields).map(([name, value]) => `${name}: ${value}`);
  const said = [type ?? '', ...body.words, message, ...body.messages, ...numbers].join('\n');
  return said.slice(0, MAX_SAID);
}

/**
 * These phrases apply with any status: LM Studio sends 400 for a model that it has just unloaded.
 */
const OVERLOADED_WITH_ANY_STATUS =
  /overloaded|model (?:is |was |has |has been )?(?:unloaded|crashed)|context deadline exceeded/i;

/** How many characters of a server's text are searched: a body may echo the entire request. */
const MAX_SAID = 8_000;

function classifyText(facts: CallFailureDetails, now: number): ModelFailure | null {
  const { status, body, headers } = facts;
  const text = joinFailureText(facts);
  const serverFailed = status !== null && status >= 500;
  if (isBlocked(facts, text)) return { kind: 'blocked' };
  // A web page does not come from a model's server.
  if (body.isPage) return null;
  if ((status === null || status >= 400) && NO_TOOLS.test(text)) return { kind: 'no-tools' };
  if (MESSAGE_ORDER.test(text)) return { kind: 'message-order' };
  const length = parseLengthRefusal(text, status);
  if (length !== null) return length;
  const rest = findRetryAfterMs({ headers, fields: body.fields, text }, now);
  // "Quota" may also mean a limit per minute, which is assumed if the server states when to retry.
  if (NO_CREDIT.test(text) && !serverFailed && rest === null) return { kind: 'no-credit' };
  if (RATE_LIMITED.test(text) && !serverFailed) return { kind: 'rate-limited', retryAfterMs: rest };
  if (UNAUTHORISED.test(text)) return { kind: 'unauthorised' };
  if (WRONG_PLACE.test(text)) return { kind: 'refused' };
  if (FILTERED.test(text) && !serverFailed) return { kind: 'filtered' };
  if (NOT_FOUND.test(text) && !serverFailed) return { kind: 'not-found' };
  if (OVERLOADED.test(text) && (status === null || status < 400 || status === 429)) {
    return status === 429 ? { kind: 'rate-limited', retryAfterMs: rest } : { kind: 'overloaded' };
  }
  return OVERLOADED_WITH_ANY_STATUS.test(text) ? { kind: 'overloaded' } : null;
}

/**
 * Statuses with which a page indicates that an intermediary refused; 5xx pages come from gateways
 * whose server is down.
 */
const BLOCKING: ReadonlySet<number> = new Set([403, 405, 406, 418, 444, 451]);
/** Some model servers send a page of their own with these statuses. */
const MAY_BLOCK: ReadonlySet<number> = new Set([...BLOCKING, 400, 409]);

function isBlocked({ status, body, headers }: CallFailureDetails, text: string): boolean {
  if (status === 407 || status === 511 || headers['cf-mitigated'] !== undefined) return true;
  if (status === null || !MAY_BLOCK.has(status)) return false;
  if (body.isPage && BLOCKING.has(status)) return true;
  return body.words.length === 0 && BLOCKED.test(text) && !UNAUTHORISED.test(text);
}

function classifyStatus(status: number, facts: CallFailureDetails, now: number): ModelFailure {
  switch (status) {
    case 401:
    case 403:
      return { kind: 'unauthorised' };
    case 402:
      return { kind: 'no-credit' };
    case 404:
      return { kind: 'not-found' };
    case 408:
    case 409:
    case 425:
    case 499:
      return { kind: 'overloaded' };
    case 413:
      // The message does not say whether tokens or bytes are meant; a shorter request solves both
      // problems.
      return { kind: 'too-long', isBytes: true };
    case 429: {
      const { headers, body, message } = facts;
      const rest = findRetryAfterMs({ headers, fields: body.fields, text: message }, now);
      return { kind: 'rate-limited', retryAfterMs: rest };
    }
    case 400:
    case 422:
      return { kind: 'refused', mayBeTooLong: true };
    case 500:
      return { kind: 'overloaded', mayBeTooLong: true };
    case 501:
      return { kind: 'refused' };
    default:
      return status >= 500 ? { kind: 'overloaded' } : { kind: 'refused' };
  }
}

function classifyNetwork(code: string): ModelFailure {
  if (SILENT.test(code)) return { kind: 'timeout', phase: 'stalled' };
  if (CERTIFICATE.test(code)) return { kind: 'unreachable', because: 'certificate' };
  if (/^HPE_/.test(code)) return { kind: 'rubbish' };
  return UNREACHABLE.test(code) ? { kind: 'unreachable' } : { kind: 'broken-off' };
}
