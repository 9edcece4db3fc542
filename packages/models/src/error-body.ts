/** The content of an error response's body, in any form. */
export interface ErrorBody {
  /** Sentences for people, in order and deduplicated. */
  readonly messages: readonly string[];
  /** Codes, types and names, such as `context_length_exceeded`, `ThrottlingException` or `1261`. */
  readonly words: readonly string[];
  /** A status inside the body, from 400 to 599; null if there is none. */
  readonly status: number | null;
  /**
   * Fields that state when to retry or how large the context window is, keyed by lower-case name.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** True if the body is a web page, so that something other than the model's server responded. */
  readonly isPage: boolean;
}

/**
 * The maximum length of a body that is read, in characters; a web page or an echoed request may be
 * far longer.
 */
const MAX_BODY = 65_536;
/** Limits for traversing JSON: depth, number of values, and sentence length. */
const MAX_DEPTH = 8;
const MAX_VALUES = 500;
const MAX_MESSAGE = 4_000;

const MESSAGE_KEY =
  /^(message|msg|error|errors|error_?message|error_?msg|error_?description|detail|details|title|reason|description|raw|status_?msg|text|failure|fault|cause)$/i;
const WORD_KEY =
  /^(code|type|status|__type|error_?type|error_?code|status_?code|http_?status(_?code)?|reason|exception)$/i;
const FIELD_KEY =
  /^(retry_?(after|delay|in)(_?(ms|seconds))?|resets?_(in|at|after)(_?(ms|seconds))?|x-ratelimit-reset.*|n_ctx|n_prompt_tokens)$/i;
/** Codes that state only that the call failed. */
const EMPTY_WORD = /^(error|none|null|undefined|0|fail(ed)?|exception|invalid_request_error)$/i;

interface ErrorWalk {
  readonly messages: string[];
  readonly words: string[];
  readonly fields: Record<string, string>;
  status: number | null;
  values: number;
}

/**
 * Parses the body of an error response: JSON of any nesting, a stream event, XML, a web page or
 * plain text.
 */
export function readErrorBody(body: string): ErrorBody {
  const text = removeFraming(body.slice(0, MAX_BODY).trim());
  const walk = createErrorWalk();
  const value = parseErrorJson(text);
  if (value !== undefined) visitValue(walk, value, '', 0);
  else if (isWebPage(text)) addPage(walk, text);
  else if (/^<(\?xml|error)/i.test(text)) addXml(walk, text);
  else addMessage(walk, text);
  return finishErrorWalk(walk, value === undefined && isWebPage(text));
}

/**
 * Parses an error that arrived as a value: an event within a stream that had started with status
 * 200.
 */
export function readErrorValue(value: unknown): ErrorBody {
  const walk = createErrorWalk();
  visitValue(walk, value, 'error', 0);
  return finishErrorWalk(walk, false);
}

function createErrorWalk(): ErrorWalk {
  return { messages: [], words: [], fields: {}, status: null, values: 0 };
}

function finishErrorWalk(
  { messages, words, fields, status }: ErrorWalk,
  isPage: boolean,
): ErrorBody {
  return {
    messages: [...new Set(messages)],
    words: [...new Set(words)],
    fields,
    status: status ?? messages.map(findStatusInText).find((found) => found !== null) ?? null,
    isPage,
  };
}

/**
 * Some gateways send the body of an error as an event, and some put the status line in front of it.
 */
function removeFraming(text: string): string {
  const data = /^(?:event:[^\n]*\n)?(?:data|error):\s*(?=[{[])/i.exec(text);
  return data === null ? text : (text.slice(data[0].length).split(/\r?\n\r?\n/)[0] ?? '').trim();
}

function parseErrorJson(text: string): unknown {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The text is not JSON or was truncated at the limit; the text itself is still searched.
    return undefined;
  }
}

function visitValue(walk: ErrorWalk, value: unknown, key: string, depth: number): void {
  walk.values += 1;
  if (depth > MAX_DEPTH || walk.values > MAX_VALUES) return;
  if (typeof value === 'string') visitText(walk, value, key, depth);
  else if (typeof value === 'number') visitNumber(walk, value, key);
  else if (Array.isArray(value)) for (const one of value) visitValue(walk, one, key, depth + 1);
  else if (typeof value === 'object' && value !== null) {
    const place = findFaultyField(value);
    if (place !== null) addMessage(walk, place);
    for (const [name, inner] of Object.entries(value)) visitValue(walk, inner, name, depth + 1);
  }
}

/**
 * FastAPI names the invalid field next to its message: `{"loc": ["body", "tools"], "msg": "…"}`.
 */
function findFaultyField(value: object): string | null {
  const { loc, msg } = value as { readonly loc?: unknown; readonly msg?: unknown };
  if (!Array.isArray(loc) || typeof msg !== 'string') return null;
  const steps = loc.filter((step) => step !== 'body' && ['string', 'number'].includes(typeof step));
  return steps.length === 0 ? null : `${steps.join('.')}: ${msg}`;
}

function visitText(walk: ErrorWalk, text: string, key: string, depth: number): void {
  const trimmed = text.trim();
  if (trimmed === '') return;
  if (FIELD_KEY.test(key)) walk.fields[key.toLowerCase()] = trimmed;
  if (WORD_KEY.test(key)) addWord(walk, trimmed);
  if (!MESSAGE_KEY.test(key) && key !== '') return;
  const nested = parseErrorJson(trimmed);
  if (nested !== undefined && typeof nested === 'object') visitValue(walk, nested, key, depth + 1);
  else if (isWebPage(trimmed)) addPage(walk, trimmed);
  else addMessage(walk, trimmed);
}

function visitNumber(walk: ErrorWalk, value: number, key: string): void {
  if (FIELD_KEY.test(key)) walk.fields[key.toLowerCase()] = String(value);
  if (WORD_KEY.test(key)) addWord(walk, String(value));
}

function addWord(walk: ErrorWalk, word: string): void {
  const status = parseStatus(word);
  if (status !== null) walk.status ??= status;
  else if (word.length <= 100 && !EMPTY_WORD.test(word)) walk.words.push(word);
}

function addMessage(walk: ErrorWalk, text: string): void {
  if (text !== '') walk.messages.push(text.slice(0, MAX_MESSAGE));
}

/** Parses `400` or `"429"`; null for anything that is not an error status. */
export function parseStatus(value: unknown): number | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^[45]\d\d$/.test(text) ? Number(text) : null;
}

/**
 * A status within a sentence: `Error code: 429 - …`, `HTTP 503`, `[429 Too Many Requests]`, `529
 * overloaded`.
 */
function findStatusInText(text: string): number | null {
  const found =
    /\b(?:error code|status(?:[ _]code)?|http(?:\/[\d.]+)?(?: error)?)["'=:\s]{1,4}([45]\d\d)\b/i.exec(
      text,
    ) ?? /^\W?([45]\d\d)[\s:,-]+[a-z{<]/i.exec(text);
  return parseStatus(found?.[1]);
}

function isWebPage(text: string): boolean {
  return /^(?:\uFEFF)?\s*(?:<!--[\s\S]{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body|title|script|center|h1)\b/i.test(
    text,
  );
}

/** Adds the title, the headings and the first text of a web page to the content. */
function addPage(walk: ErrorWalk, page: string): void {
  for (const [, text = ''] of page.matchAll(/<(?:title|h1)[^>]*>([^<]{1,300})</gi)) {
    addMessage(walk, text.trim());
  }
  const shown = page.replace(/<(script|style)[\s\S]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^>]*>/g, ' ');
  addMessage(walk, shown.replace(/\s+/g, ' ').trim().slice(0, 500));
}

function addXml(walk: ErrorWalk, xml: string): void {
  for (const [, name = '', text = ''] of xml.matchAll(/<(code|message)>([^<]*)</gi)) {
    if (name.toLowerCase() === 'code') addWord(walk, text.trim());
    else addMessage(walk, text.trim());
  }
  if (walk.messages.length === 0) addMessage(walk, xml.replace(/<[^>]*>/g, ' ').trim());
}
