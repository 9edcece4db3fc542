import { memoizeByText } from '../index.ts';

/** Removes secrets from text. Applying it twice gives the same result. */
export type Scrub = (text: string) => string;

/**
 * Scrubs text that arrives in chunks, so that no part of a secret is forwarded before the rest of
 * it is known.
 */
export interface ScrubbedStream {
  /** Returns the text that can no longer become a secret. */
  push(piece: string): string;
  /** Returns the text that was held back. */
  end(): string;
}

/**
 * The secrets of this process, and the only scrubber, which removes them from everything that
 * leaves the process or reaches the model (D10, G18). Secrets are removed by value: the text of an
 * error can contain a token just as well as a field named `token`.
 */
export interface Secrets {
  /**
   * Removes secrets by value only: for chats, the model and the API, in which phone numbers are
   * allowed.
   */
  readonly scrub: Scrub;
  /** Removes secrets by value and by pattern: for logs and traces. */
  readonly scrubLog: Scrub;
  stream(): ScrubbedStream;
  /** Adds secrets that are removed from then on. */
  add(secrets: Iterable<string>): void;
}

const HIDDEN = '[secret]';
const HIDDEN_PHONE = '[phone]';

/** Secrets that are recognizable by their form, even when they are not in the settings. */
const PATTERNS: readonly { readonly look: RegExp; readonly instead: string }[] = [
  // Telegram: `123456789:AA…`, also in a request path (`/bot123456789:AA…/sendMessage`).
  { look: /(?<!\d)\d{6,}(?::|%3A)[A-Za-z0-9_-]{30,}/gi, instead: HIDDEN },
  // OpenAI, Anthropic and services that copied their format; `task-…` and `risk-…` are ordinary
  // words.
  { look: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g, instead: HIDDEN },
  // The secrets with which browsers and people sign in to the page.
  { look: /parley_(?:session|signin)_[A-Za-z0-9_-]{16,}/g, instead: HIDDEN },
  { look: /(?<=\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{16,}/gi, instead: HIDDEN },
  // WhatsApp identifies people and their chats by number, even inside a URL-encoded id.
  { look: /(?<!\d)\d{6,15}(?=(?::\d+)?(?:@|%(?:25)*40)s\.whatsapp\.net)/gi, instead: HIDDEN_PHONE },
  { look: /(?<=\bwhatsapp:)\d{6,15}(?!\d)/gi, instead: HIDDEN_PHONE },
  // E.164: a plus, then 8 to 15 digits.
  { look: /(?<![\w+])\+[1-9]\d{7,14}(?!\d)/g, instead: HIDDEN_PHONE },
];

/**
 * A quick test for characters that all of these patterns require; most lines contain none of them.
 */
const MAY_MATCH = /\d{6}|sk-|bearer|parley_s|\+[1-9]/i;

/**
 * The same text is sent to the model repeatedly (prompt layers, tools, history), so results are
 * memoized. The total number of characters of the memoized text.
 */
const REMEMBERED = 1_000_000;
/** Scanning shorter text costs no more than a lookup. */
const SHORT = 32;

interface TextSpan {
  readonly start: number;
  readonly end: number;
  readonly instead: string;
}

/**
 * Values that are too short to be distinguished from ordinary text are left out
 * (`listSecretVariants`).
 */
export function openSecrets(first: Iterable<string> = []): Secrets {
  const forms = new Set<string>();
  let matcher = compileSecretMatcher([]);
  const add = (secrets: Iterable<string>): void => {
    const before = forms.size;
    for (const form of listSecretVariants(secrets)) forms.add(form);
    if (forms.size === before) return;
    matcher = compileSecretMatcher([...forms]);
    known.clear();
  };
  const find: Scrub = (text) => replaceSpans(text, matcher.find(text));
  const known = memoizeByText(find, REMEMBERED);
  add(first);
  const scrub: Scrub = (text) => (text.length < SHORT ? find(text) : known(text));
  return {
    scrub,
    scrubLog: (text) => replaceSpans(text, [...matcher.find(text), ...findPatternSpans(text)]),
    add,
    stream() {
      let open = '';
      return {
        push(piece) {
          open += piece;
          const settled = findForwardableLength(open, matcher);
          const passed = find(open.slice(0, settled));
          open = open.slice(settled);
          return passed;
        },
        end() {
          const rest = find(open);
          open = '';
          return rest;
        },
      };
    },
  };
}

interface SecretMatcher {
  /** Finds all occurrences of a form, in text order; they may overlap. */
  find(text: string): readonly TextSpan[];
  /**
   * Returns the position of an unfinished form at the end of the text, or the length of the text.
   */
  openAt(text: string): number;
}

/**
 * The number of characters that determine whether a form may begin at a position; every form is
 * longer.
 */
const KEY = 4;

/**
 * Scans the text once for any number of forms: a rolling hash of the last four characters shows
 * where a form may begin.
 */
function compileSecretMatcher(forms: readonly string[]): SecretMatcher {
  const longest = Math.max(0, ...forms.map((form) => form.length));
  const byHash = groupBy(forms, (form) => hashForm(form));
  const byFirst = groupBy(forms, (form) => form.charCodeAt(0));
  const mayBegin = new Uint8Array(0x1_0000);
  for (const hash of byHash.keys()) mayBegin[hash] = 1;
  return {
    find(text) {
      const spans: TextSpan[] = [];
      let hash = 0;
      for (let at = 0; at < text.length; at += 1) {
        hash = ((hash << 4) ^ text.charCodeAt(at)) & 0xffff;
        if (mayBegin[hash] === 0 || at < KEY - 1) continue;
        const start = at - KEY + 1;
        for (const form of byHash.get(hash) ?? []) {
          if (!text.startsWith(form, start)) continue;
          spans.push({ start, end: start + form.length, instead: HIDDEN });
        }
      }
      return spans;
    },
    openAt(text) {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
        const started = byFirst.get(text.charCodeAt(at));
        if (started === undefined) continue;
        const rest = text.slice(at);
        if (started.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
      }
      return text.length;
    },
  };
}

function hashForm(form: string): number {
  let hash = 0;
  for (let at = 0; at < KEY; at += 1) hash = ((hash << 4) ^ form.charCodeAt(at)) & 0xffff;
  return hash;
}

function groupBy(forms: readonly string[], keyOf: (form: string) => number) {
  const groups = new Map<number, string[]>();
  for (const form of forms) groups.set(keyOf(form), [...(groups.get(keyOf(form)) ?? []), form]);
  return groups;
}

/**
 * Returns the length of growing text that can be forwarded: no complete or partial secret crosses
 * its end.
 */
function findForwardableLength(text: string, matcher: SecretMatcher): number {
  const across = matcher.find(text).toReversed();
  return across.reduce(
    (settled, { start, end }) => (start < settled && settled < end ? start : settled),
    matcher.openAt(text),
  );
}

function findPatternSpans(text: string): TextSpan[] {
  if (!MAY_MATCH.test(text)) return [];
  return PATTERNS.flatMap(({ look, instead }) =>
    [...text.matchAll(look)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      instead,
    })),
  );
}

/**
 * Overlapping matches are merged, because replacing them one after another would leave the rest of
 * the second match.
 */
function replaceSpans(text: string, spans: readonly TextSpan[]): string {
  let clean = '';
  let done = 0;
  let open: TextSpan | undefined;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (open !== undefined && span.start < open.end) {
      const instead = span.instead === open.instead ? open.instead : HIDDEN;
      open = { start: open.start, end: Math.max(open.end, span.end), instead };
      continue;
    }
    if (open !== undefined) {
      clean += text.slice(done, open.start) + open.instead;
      done = open.end;
    }
    open = span;
  }
  if (open === undefined) return text;
  return clean + text.slice(done, open.start) + open.instead + text.slice(open.end);
}

/** Removing shorter values would remove ordinary words. */
const MIN_SECRET = 6;
/** Shorter base64 would match ordinary text. */
const MIN_BASE64 = 8;
/** A password that is a single word of letters would remove that word from every answer. */
const WORD = /^[a-z]{1,8}$/i;

/**
 * Returns all spellings in which a secret may occur in text: in plain form, inside JSON (also JSON
 * within JSON), in a URL, in HTML, in hexadecimal digits, and inside the base64 of a longer text.
 * Values shorter than 6 characters and single words of at most 8 letters (`postgres`) are not
 * treated as secrets.
 */
function listSecretVariants(secrets: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET || WORD.test(secret)) continue;
    const inJson = escapeJson(secret);
    const inUrl = encodeURIComponent(secret.toWellFormed());
    const escaped = [inJson, escapeJson(inJson), escapeHtml(secret)];
    const encoded = [
      inUrl,
      lowerCaseUrlEscapes(inUrl),
      ...listHexVariants(secret),
      ...listBase64Variants(secret),
    ];
    for (const form of [secret, ...escaped, ...encoded]) forms.add(form).add(toByteString(form));
  }
  return [...forms];
}

/** Converts UTF-8 text to one character per byte, the form in which arbitrary bytes are scanned. */
function toByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** `%3a` is equivalent to `%3A`. */
function lowerCaseUrlEscapes(inUrl: string): string {
  return inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function listHexVariants(secret: string): string[] {
  const hex = Buffer.from(secret, 'utf8').toString('hex');
  return [hex, hex.toUpperCase()];
}

/**
 * Base64 encodes three bytes as four characters, so a secret within a longer text (`user:password`)
 * has three spellings. Characters at the edges that also contain bits of neighbors are omitted.
 */
function listBase64Variants(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const first = Math.ceil((shift * 8) / 6);
    const last = Math.floor(((shift + bytes.length) * 8) / 6);
    return text.slice(first, last);
  });
  const long = forms.filter((form) => form.length >= MIN_BASE64);
  return [...long, ...long.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** Removes secrets from a file; returns the same bytes if it contains none. */
export function scrubBytes(bytes: Uint8Array, scrub: Scrub): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const clean = scrub(text);
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

/**
 * Scrubs JSON so that it stays valid: a secret made of digits may be part of a number, where a
 * replacement would break it.
 */
export function scrubJson(json: string, scrub: Scrub): string {
  const clean = scrub(json);
  if (clean === json || isJson(clean)) return clean;
  return JSON.stringify(scrubValue(JSON.parse(json), scrub));
}

/** Scrubs a JSON log line so that it stays valid. */
export function scrubJsonLine(line: string, scrub: Scrub): string {
  const clean = scrubJson(line, scrub);
  return clean.endsWith('\n') ? clean : `${clean}\n`;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false; // Text that is not JSON is expected at this point and is not an error.
  }
}

function scrubValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'number') return scrub(String(value)) === String(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((entry) => scrubValue(entry, scrub));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, entry]) => [scrub(key), scrubValue(entry, scrub)]));
}
