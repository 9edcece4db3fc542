import { z } from 'zod';
import type { ModelFailure } from './chat-model.ts';

/** What is known of a failed call, taken from whatever was thrown. */
export interface FailureFacts {
  readonly name: string;
  readonly message: string;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The provider's own error code, such as `context_length_exceeded`. */
  readonly type: string | null;
  /** Of the socket or of `fetch`, such as `ECONNREFUSED`. */
  readonly networkCode: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const Thrown = z.object({
  name: z.string().catch(''),
  message: z.string().catch(''),
  statusCode: z.number().nullable().catch(null),
  responseHeaders: z.record(z.string(), z.string()).catch({}),
  responseBody: z.string().catch(''),
  code: z.unknown().optional(),
  type: z.unknown().optional(),
  cause: z.unknown().optional(),
});

const ErrorFields = z.object({
  type: z.unknown().optional(),
  code: z.unknown().optional(),
  message: z.string().catch(''),
});
/** Mistral's has no `error` around it. */
const ProviderError = z.union([
  z.object({ error: ErrorFields }).transform(({ error }) => error),
  ErrorFields.extend({ object: z.literal('error') }),
]);

/** Codes of sockets, name lookup, certificates and `fetch`; a provider's own codes look otherwise. */
const NETWORK_CODE =
  /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|EADDR|ETIMEDOUT|EPIPE|EPROTO|UND_ERR_|CERT_|ERR_TLS|ERR_SSL|DEPTH_|SELF_|UNABLE_)/;

/** How deep a chain of causes is followed; `fetch` nests two, the AI SDK adds up to two. */
const MAX_CAUSES = 6;

/** Reads facts out of anything thrown, by shape: loading the AI SDK's error classes would cost 100 ms. */
export function failureFacts(thrown: unknown): FailureFacts {
  const top = Thrown.safeParse(thrown);
  if (!top.success) {
    const message = typeof thrown === 'string' ? thrown : '';
    return { ...NOTHING_KNOWN, message };
  }
  const provided = providerError(top.data.responseBody);
  return {
    name: top.data.name,
    message: provided?.message || top.data.message,
    status: top.data.statusCode,
    type: provided?.type ?? wordOf(top.data.type) ?? wordOf(top.data.code),
    networkCode: networkCode(thrown),
    headers: top.data.responseHeaders,
    body: top.data.responseBody,
  };
}

const NOTHING_KNOWN: FailureFacts = {
  name: '',
  message: '',
  status: null,
  type: null,
  networkCode: null,
  headers: {},
  body: '',
};

function providerError(body: string): { type: string | null; message: string } | null {
  if (!body.startsWith('{')) return null;
  try {
    const parsed = ProviderError.safeParse(JSON.parse(body));
    if (!parsed.success) return null;
    const { code, type, message } = parsed.data;
    return { type: wordOf(code) ?? wordOf(type), message };
  } catch {
    // Not JSON after all: the caller still has the status and the body itself.
    return null;
  }
}

function networkCode(thrown: unknown): string | null {
  let current = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const link = Thrown.safeParse(current);
    if (!link.success) return null;
    const code = wordOf(link.data.code);
    if (code !== null && NETWORK_CODE.test(code)) return code;
    current = link.data.cause;
  }
  return null;
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EADDR|ETIMEDOUT|UND_ERR_CONNECT|CERT_|ERR_TLS|DEPTH_|SELF_|UNABLE_)/;
const SILENT = /^UND_ERR_(HEADERS|BODY)_TIMEOUT/;
const TOO_LONG =
  /context[ _-]?(length|window|size)|(prompt|input|request) is too long|too many (input )?tokens|exceed\w* .{0,40}(context|token)|request_too_large/i;
const NO_CREDIT = /insufficient_quota|credit balance|billing|payment required/i;
const RATE_LIMITED = /rate[ _-]?limit/i;
/** Of `httpFetch`, and of the AI SDK where it was reading the first event then. */
const OVERSIZED = /it sent more than \d+ bytes at once|failed to process successful response/i;
const FILTERED = /content_?(filter|policy)|safety system/i;
/** The messages of Ollama, vLLM, llama.cpp, LM Studio and gateways. */
const NO_TOOLS =
  /(does not|doesn't|not) support(ed)? (the use of )?(tool|function)|support tool use|tools? (is|are|use is|calling is) not supported|enable-auto-tool-choice|tools param requires/i;
/**
 * The messages of Mistral, of chat templates (vLLM, llama.cpp, Ollama), Perplexity, DeepSeek and Bedrock; OpenRouter
 * quotes them elsewhere in the body.
 */
const MESSAGE_ORDER =
  /unexpected role \W*user|message_order|roles? (must|should) (be )?alternat|must alternate between|successive user or assistant/i;

/**
 * Decides what a failed call means. Status first, then the provider's message (which some send with
 * status 200 inside the stream), then the network. `now` is ms since 1970, for dates in `Retry-After`.
 */
export function classifyFailure(facts: FailureFacts, now: number): ModelFailure {
  const text = `${facts.type ?? ''} ${facts.message}`;
  const failed = facts.status !== null && facts.status >= 400;
  if (failed || facts.networkCode === null) {
    const byText = classifyText(text, facts, now);
    if (byText !== null) return byText;
  }
  if (facts.status !== null && failed) return classifyStatus(facts.status, facts, now);
  if (facts.networkCode !== null) return classifyNetwork(facts.networkCode);
  if (/JSONParse|TypeValidation|InvalidResponse/.test(facts.name)) return { kind: 'rubbish' };
  if (OVERSIZED.test(facts.message)) return { kind: 'rubbish' };
  if (/EmptyResponseBody/.test(facts.name)) return { kind: 'empty' };
  return { kind: 'refused' };
}

function classifyText(text: string, facts: FailureFacts, now: number): ModelFailure | null {
  const { status } = facts;
  const type = facts.type ?? '';
  const rest = retryAfterMs(facts.headers, now);
  const serverFailed = status !== null && status >= 500;
  if (status !== null && status >= 400 && NO_TOOLS.test(text)) return { kind: 'no-tools' };
  if (MESSAGE_ORDER.test(`${text} ${facts.body}`)) return { kind: 'message-order' };
  // "Quota" may also mean this minute's; a server that says when to come back means that.
  if (NO_CREDIT.test(text) && !serverFailed && rest === null) return { kind: 'no-credit' };
  if (RATE_LIMITED.test(text) && !serverFailed) return { kind: 'rate-limited', retryAfterMs: rest };
  // A limit of tokens per minute (429) reads almost like a limit of tokens per request.
  if (TOO_LONG.test(text) && status !== 429) return { kind: 'too-long' };
  if (/overloaded|server_error|api_error/i.test(type)) return { kind: 'overloaded' };
  if (/authentication_error|permission_error|invalid_api_key/i.test(type)) {
    return { kind: 'unauthorised' };
  }
  return FILTERED.test(text) ? { kind: 'filtered' } : null;
}

function classifyStatus(status: number, facts: FailureFacts, now: number): ModelFailure {
  if (status === 401 || status === 403) return { kind: 'unauthorised' };
  if (status === 402) return { kind: 'no-credit' };
  if (status === 404) return { kind: 'not-found' };
  if (status === 408) return { kind: 'overloaded' };
  if (status === 413) return { kind: 'too-long' };
  if (status === 429) {
    return { kind: 'rate-limited', retryAfterMs: retryAfterMs(facts.headers, now) };
  }
  return status >= 500 ? { kind: 'overloaded' } : { kind: 'refused' };
}

function classifyNetwork(code: string): ModelFailure {
  if (SILENT.test(code)) return { kind: 'timeout', phase: 'stalled' };
  return UNREACHABLE.test(code) ? { kind: 'unreachable' } : { kind: 'broken-off' };
}

/** Longest wait that is believed, in ms; a server that says more is treated as saying nothing useful. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * When a rate-limited provider wants to be asked again, in ms from `now`: `retry-after-ms`, or
 * `retry-after` in seconds or as an HTTP date. Null when it does not say. Header names are lower case.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | null {
  const exact = number(headers['retry-after-ms']);
  if (exact !== null) return within(exact);
  const said = headers['retry-after'];
  const seconds = number(said);
  if (seconds !== null) return within(seconds * 1000);
  const date = said === undefined ? Number.NaN : Date.parse(said);
  return Number.isNaN(date) ? null : within(date - now);
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

function within(ms: number): number | null {
  return ms > LONGEST_WAIT_MS ? null : Math.max(0, Math.ceil(ms));
}

/** Longest quotation of a provider's message, in characters. */
const MAX_QUOTE = 200;

/** Who failed, for people. */
export interface FailedModel {
  /** `provider/model`. */
  readonly id: string;
  /** Host and port of the server. */
  readonly server: string;
}

/**
 * Says in plain words what happened, to which model, and what to do. `said` is what the provider
 * said; it is quoted only where it helps, and never for a refused key, because some echo the key.
 */
export function explainFailure(failure: ModelFailure, model: FailedModel, said: string): string {
  return `${whatFailed(failure, model, said)} ${whatToDo(failure)}`.trim();
}

/** The first half of `explainFailure`, a whole sentence. */
export function whatFailed(failure: ModelFailure, model: FailedModel, said: string): string {
  const { id, server } = model;
  switch (failure.kind) {
    case 'unreachable':
      return `The model ${id} cannot be reached at ${server}.`;
    case 'broken-off':
      return `The connection to ${id} at ${server} broke off before the answer was complete.`;
    case 'unauthorised':
      return `${server} refused the key for ${id}.`;
    case 'no-credit':
      return `The account for ${id} at ${server} has no credit left.`;
    case 'not-found':
      return `${server} knows no model or address for ${id}.`;
    case 'rate-limited':
      return `${id} is asked too often just now${waiting(failure.retryAfterMs)}.`;
    case 'overloaded':
      return `${id} at ${server} is overloaded or has an error of its own${quote(said)}.`;
    case 'too-long':
      return `The conversation is too long for ${id}.`;
    case 'refused':
      return `${id} at ${server} did not accept the request${quote(said)}.`;
    case 'no-tools':
      return `${id} at ${server} cannot use tools${quote(said)}.`;
    case 'message-order':
      return `${id} at ${server} did not accept the order of the messages${quote(said)}.`;
    case 'filtered':
      return `${id} declined to answer because of its content filter.`;
    case 'rubbish':
      return `${server} answered for ${id} with something that is not a model's answer${quote(said)}.`;
    case 'empty':
      return `${id} sent an empty answer.`;
    case 'endless':
      return `${id} thought longer than limits.answer.thoughtCharacters allows, and said nothing.`;
    case 'timeout':
      return `${id} at ${server} ${TOO_SLOW[failure.phase].what}.`;
    case 'aborted':
      return `The call to ${id} was stopped on request.`;
  }
}

const TOO_SLOW = {
  'first-token': {
    what: 'took too long to begin its answer',
    fix: 'Try again, or raise timeouts.firstTokenMs for a slow model.',
  },
  stalled: { what: 'stopped in the middle of its answer', fix: 'Try again.' },
  total: { what: 'took longer for its answer than timeouts.totalMs allows', fix: '' },
} as const;

const FIXES: Readonly<Record<Exclude<ModelFailure['kind'], 'timeout'>, string>> = {
  unreachable: 'Check that the server runs and that baseUrl in the settings is right.',
  'broken-off': 'Try again.',
  unauthorised: 'Check apiKey in the settings.',
  'no-credit': 'Add credit or set another model.',
  'not-found': 'Check model and baseUrl in the settings; baseUrl usually ends in /v1.',
  'rate-limited': 'Try again later or set a fallback model.',
  overloaded: 'Try again later or set a fallback model.',
  'too-long': 'Start a new session or use a model with a larger context.',
  refused: 'Check the model settings.',
  'no-tools': 'Use a model that can.',
  'message-order': 'Start a new session or use another model.',
  filtered: 'Put the request in other words.',
  rubbish: 'Check baseUrl in the settings; it usually ends in /v1.',
  empty: 'Try again, or use another model if it happens often.',
  endless: 'Ask for a smaller part, raise that setting, or use another model.',
  aborted: '',
};

/** The second half of `explainFailure`; empty where nothing helps. */
export function whatToDo(failure: ModelFailure): string {
  return failure.kind === 'timeout' ? TOO_SLOW[failure.phase].fix : FIXES[failure.kind];
}

function waiting(retryAfterMs: number | null): string {
  return retryAfterMs === null ? '' : ` and wants ${Math.ceil(retryAfterMs / 1000)} s of rest`;
}

function quote(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  return ` (“${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}”)`;
}
