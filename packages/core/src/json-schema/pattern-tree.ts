/**
 * A regular expression as a tree. `set` is one character of some kind, as written (`\d`, `[a-z]`,
 * `.`).
 */
export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly source: string }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly items: readonly PatternNode[] }
  /** An assertion, which matches text without consuming it. */
  | { readonly kind: 'look'; readonly body: PatternNode }
  | {
      readonly kind: 'repeat';
      readonly body: PatternNode;
      readonly min: number;
      readonly max: number;
    };

const EMPTY: PatternNode = { kind: 'empty' };
/**
 * A set that matches any character. The text that a back-reference matches is not known during the
 * analysis.
 */
const ANYTHING: PatternNode = { kind: 'set', source: '[^]' };

/** The maximum nesting of groups, because the parser is recursive. */
const MAX_DEPTH = 50;

interface PatternReader {
  readonly source: string;
  readonly nestedClasses: boolean;
  at: number;
}

/** Parses a pattern that `RegExp` accepts. Throws an Error if groups are nested too deeply. */
export function parsePattern(source: string, flags: string): PatternNode {
  return parseChoice({ source, nestedClasses: flags.includes('v'), at: 0 }, 0);
}

function parseChoice(reading: PatternReader, depth: number): PatternNode {
  if (depth > MAX_DEPTH) throw new Error(`its groups are nested more than ${MAX_DEPTH} deep`);
  const items = [parseSequence(reading, depth)];
  while (reading.source[reading.at] === '|') {
    reading.at += 1;
    items.push(parseSequence(reading, depth));
  }
  return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'choice', items };
}

function parseSequence(reading: PatternReader, depth: number): PatternNode {
  const items: PatternNode[] = [];
  while (reading.at < reading.source.length && !'|)'.includes(reading.source[reading.at] ?? '')) {
    items.push(parseRepeats(reading, parseAtom(reading, depth)));
  }
  return { kind: 'sequence', items };
}

function parseAtom(reading: PatternReader, depth: number): PatternNode {
  const { source, at } = reading;
  const sign = source[at] ?? '';
  if (sign === '(') return parseGroup(reading, depth);
  if (sign === '[') {
    reading.at = findClassEnd(reading);
    return { kind: 'set', source: source.slice(at, reading.at) };
  }
  if (sign === '\\') return parseEscape(reading);
  const point = String.fromCodePoint(source.codePointAt(at) ?? 0);
  reading.at += point.length;
  if (sign === '^' || sign === '$') return EMPTY;
  const isSign = '{}]*+?'.includes(sign);
  return { kind: 'set', source: isSign ? `\\${sign}` : point };
}

const GROUP_START = /\((?:\?(?:<?[=!]|<[^>]*>|[a-z-]*:))?/y;

function parseGroup(reading: PatternReader, depth: number): PatternNode {
  GROUP_START.lastIndex = reading.at;
  const [start = '('] = GROUP_START.exec(reading.source) ?? [];
  reading.at += start.length;
  const body = parseChoice(reading, depth + 1);
  reading.at += 1;
  return /^\(\?<?[=!]$/.test(start) ? { kind: 'look', body } : body;
}

const ESCAPE =
  /\\(?:k<[^>]*>|[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|0|[1-9]\d*|.)/isy;

function parseEscape(reading: PatternReader): PatternNode {
  ESCAPE.lastIndex = reading.at;
  const [source = '\\\\'] = ESCAPE.exec(reading.source) ?? [];
  reading.at += source.length;
  if (/^\\[bB]$/.test(source)) return EMPTY;
  return /^\\(?:k<|[1-9])/.test(source) ? ANYTHING : { kind: 'set', source };
}

/** Returns the position after the bracket that closes a class. */
function findClassEnd({ source, at, nestedClasses }: PatternReader): number {
  let depth = 0;
  for (let index = at; index < source.length; index += 1) {
    const sign = source[index];
    if (sign === '\\') index += 1;
    else if (sign === '[' && (depth === 0 || nestedClasses)) depth += 1;
    else if (sign === ']') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return source.length;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;

function parseRepeats(reading: PatternReader, body: PatternNode): PatternNode {
  QUANTIFIER.lastIndex = reading.at;
  const found = QUANTIFIER.exec(reading.source);
  if (found === null) return body;
  const [text, least, comma, most] = found;
  reading.at += text.length;
  if (least === undefined) {
    const max = text.startsWith('?') ? 1 : Number.POSITIVE_INFINITY;
    return { kind: 'repeat', body, min: text.startsWith('+') ? 1 : 0, max };
  }
  const min = Number(least);
  if (comma === undefined) return { kind: 'repeat', body, min, max: min };
  const max = most === undefined || most === '' ? Number.POSITIVE_INFINITY : Number(most);
  return { kind: 'repeat', body, min, max };
}
