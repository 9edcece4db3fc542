/**
 * The fields in which a server may state when to retry. Header names and fields are in lower case.
 */
export interface RetryAfterSources {
  readonly headers: Readonly<Record<string, string>>;
  /** The fields of the body, such as Google's `computeRetryDelay`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The error text from the server. */
  readonly text?: string;
}

/** The longest plausible delay, in ms; a longer delay is ignored. */
const MAX_BELIEVED_MS = 24 * 60 * 60 * 1_000;

/**
 * Returns how long to wait before a rate-limited provider may be called again, in ms from `now` (ms
 * since 1970). The most explicit source takes precedence: first `retry-after-ms` and `retry-after`,
 * then the body, then the times at which the provider's limits are reset. Null if the provider does
 * not state a delay.
 */
export function findRetryAfterMs(
  { headers, fields = {}, text = '' }: RetryAfterSources,
  now: number,
): number | null {
  const said =
    parsePlainNumber(headers['retry-after-ms']) ??
    parseRetryAfterHeader(headers['retry-after'], now) ??
    findRetryInFields(fields, now) ??
    findRetryInText(text, now) ??
    findRetryByReset(headers, now);
  return said === null || said > MAX_BELIEVED_MS ? null : Math.max(0, Math.ceil(said));
}

function parsePlainNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

/** Parses seconds, an HTTP date, or a duration such as `1m30s`. */
function parseRetryAfterHeader(said: string | undefined, now: number): number | null {
  if (said === undefined) return null;
  const seconds = parsePlainNumber(said);
  if (seconds !== null) return seconds * 1_000;
  return parseDurationMs(said) ?? computeMsUntil(said, now);
}

function computeMsUntil(said: string, now: number): number | null {
  // `Date.parse` also accepts bare numbers, and words with a number, as dates.
  if (!/\d{4}/.test(said) || !/[:T]/.test(said)) return null;
  const date = Date.parse(said);
  return Number.isNaN(date) ? null : date - now;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses `7.66s`, `6m0s`, `1h2m`, `20ms`, `2 minutes`, `30 seconds`; null for anything else. */
function parseDurationMs(text: string): number | null {
  const part =
    /(\d+(?:\.\d+)?)\s*(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])\s*(?:,|and)?\s*/giy;
  const trimmed = text.trim();
  let sum = 0;
  let end = 0;
  for (const [all, amount = '', unit = ''] of trimmed.matchAll(part)) {
    sum += Number(amount) * (UNIT_MS[toShortUnit(unit.toLowerCase())] ?? 0);
    end += all.length;
  }
  return end > 0 && end === trimmed.length ? sum : null;
}

function toShortUnit(unit: string): string {
  return unit.startsWith('ms') || unit.startsWith('milli') ? 'ms' : unit.slice(0, 1);
}

function findRetryInFields(
  fields: NonNullable<RetryAfterSources['fields']>,
  now: number,
): number | null {
  for (const [name, value] of Object.entries(fields)) {
    if (!/^re(?:try|sets?_)/.test(name)) continue;
    const number = parsePlainNumber(value);
    if (number !== null) return /ms$/.test(name) ? number : parseResetMs(value, now);
    const other = parseRetryAfterHeader(value, now);
    if (other !== null) return other;
  }
  return findRetryByReset(fields, now);
}

const DURATION = String.raw`((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?)(?![a-z])[\s,]*(?:and\s+)?)+)`;
const TRY_AGAIN = new RegExp(
  String.raw`(?:try(?:ing)? (?:it )?again|retry(?:ing)?|wait|resets?|available again)\b[^.\d]{0,40}?(?:in|after|for|within)?\s*(?:about |at least |approximately )?${DURATION}`,
  'i',
);

/** Seconds in other languages, if nothing else in the sentence is a number of seconds. */
const OTHER_SECONDS = /(\d+)\s*(?:秒(?:之?后|後)|secondes|sekunden|segundos|secondi|секунд)/i;
const RESETS_AT = /resets? (?:at|on) (\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2}))/i;

/** Parses `Please try again in 7.5s`, `retry after 20 seconds`, `wait a minute`, `请在 30 秒后重试`. */
function findRetryInText(said: string, now: number): number | null {
  const text = said.replace(/\ban? (?=second|minute|hour)/gi, '1 ');
  const found = TRY_AGAIN.exec(text)?.[1];
  const ms = found === undefined ? null : parseDurationMs(found.replace(/[\s,]+$/, ''));
  if (ms !== null) return ms;
  const date = RESETS_AT.exec(text)?.[1];
  if (date !== undefined) return computeMsUntil(date, now);
  const seconds = OTHER_SECONDS.exec(text)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}

/** Limits that are reported together: their reset time, and the remaining quota. */
const RESETS: readonly (readonly [reset: RegExp, remaining: string])[] = [
  [/^x-ratelimit-reset-(.+)$/, 'x-ratelimit-remaining-'],
  [/^anthropic-ratelimit-(.+)-reset$/, 'anthropic-ratelimit-'],
];

/**
 * Computes when the exhausted limits are refilled. If the provider does not state which limits are
 * exhausted, the earliest time is used: retrying too early costs only one more refusal.
 */
function findRetryByReset(headers: RetryAfterSources['headers'], now: number): number | null {
  const resets: { readonly ms: number; readonly isUsedUp: boolean | null }[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const [pattern, prefix] of RESETS) {
      const limit = pattern.exec(name)?.[1];
      if (limit === undefined) continue;
      const left = headers[`${prefix}${limit}`] ?? headers[`${prefix}${limit}-remaining`];
      const ms = parseResetMs(value, now);
      if (ms !== null) resets.push({ ms, isUsedUp: left === undefined ? null : Number(left) <= 0 });
    }
  }
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp === true);
  if (usedUp.length > 0) return Math.max(...usedUp.map(({ ms }) => ms));
  const unknown = resets.filter(({ isUsedUp }) => isUsedUp === null);
  if (unknown.length > 0) return Math.min(...unknown.map(({ ms }) => ms));
  const plain = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'];
  // Parses `limit=10, remaining=0, reset=8`, or the newer form `"default";r=0;t=8`.
  const listed = /\b(?:reset|t)=(\d+)/.exec(headers.ratelimit ?? '')?.[1];
  const reset = plain ?? listed;
  return reset === undefined ? null : parseResetMs(reset, now);
}

/**
 * Distinguishes timestamps since 1970, in seconds or ms, from durations in seconds by their
 * magnitude.
 */
const FIRST_EPOCH_S = 1_000_000_000;
const FIRST_EPOCH_MS = 1_000_000_000_000;

function parseResetMs(value: string, now: number): number | null {
  const number = parsePlainNumber(value);
  if (number === null) return parseRetryAfterHeader(value, now);
  if (number >= FIRST_EPOCH_MS) return number - now;
  return number >= FIRST_EPOCH_S ? number * 1_000 - now : number * 1_000;
}
