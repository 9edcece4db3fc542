import { parse } from 'yaml';
import { parseLooseJson } from './loose-json.ts';

export interface FrontMatterEntry {
  readonly key: string;
  readonly value: unknown;
  /**
   * The text after the colon, together with the following lines that belong to the key, trimmed.
   */
  readonly raw: string;
  /** The assumption that was needed to parse the value; null if it is plain YAML. */
  readonly guess: string | null;
}

/** The maximum depth of nested blocks; deeper blocks are treated as text. */
const MAX_DEPTH = 5;

/**
 * Parses front matter that is not valid YAML as a whole, key by key, so that a mistake in one key
 * does not affect the others. A duplicate key is returned twice; never throws.
 */
export function parseFrontMatterEntries(
  lines: readonly string[],
  depth = 0,
): readonly FrontMatterEntry[] {
  return splitSegments(lines).map((segment) => ({
    ...guessValue(segment, depth),
    ...toRawEntry(segment),
  }));
}

/** Reads the text of each key in YAML front matter, between its `---` lines. */
export function readRawTexts(head: string): ReadonlyMap<string, string> {
  const block = head.replace(/^---[^\n]*\n/, '').replace(/(?:^|\n)---[^\n]*\n*$/, '');
  const segments = splitSegments(block.split('\n'));
  return new Map(segments.map((segment) => [segment.key, toRawEntry(segment).raw]));
}

/** A key with all its lines. */
interface FrontMatterSegment {
  readonly key: string;
  /** The text after the colon on the same line. */
  readonly inline: string;
  readonly below: readonly string[];
}

const KEY =
  /^(?:"([^"]{1,80})"|'([^']{1,80})'|([\p{L}_][\p{L}\p{N} _.-]{0,60}?))[ \t]*[:：](?=[ \t]|$)[ \t]*(.*)$/u;
/**
 * Matches a colon that is not followed by a space, except in `https://…`, where it is part of an
 * address.
 */
const TIGHT_KEY = /^()()([A-Za-z][\w-]*)[:：](?!\/\/)(.*)$/u;

/** Splits a line into its key and the text that follows; null if it has no key. */
export function readKey(line: string): { readonly key: string; readonly inline: string } | null {
  const plain = line.replace(/^\p{Cf}+/u, '');
  const found = KEY.exec(plain) ?? TIGHT_KEY.exec(plain);
  if (found === null) return null;
  const [, double, single, bare, inline = ''] = found;
  return { key: (double || single || bare || '').trim(), inline: inline.trim() };
}

function splitSegments(lines: readonly string[]): readonly FrontMatterSegment[] {
  const segments: { key: string; inline: string; below: string[] }[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const found = readKey(line);
    const last = segments.at(-1);
    if (found === null) {
      if (!line.startsWith('#')) last?.below.push(line);
      continue;
    }
    const flow = countFlowLines(found.inline, lines.slice(at + 1));
    segments.push({ ...found, below: [...lines.slice(at + 1, at + 1 + flow)] });
    at += flow;
  }
  return segments;
}

/**
 * Counts the following lines up to the end of the brackets that a value opens, even if nothing is
 * indented.
 */
function countFlowLines(inline: string, below: readonly string[]): number {
  const first = inline === '' ? (below.find((line) => line.trim() !== '') ?? '') : inline;
  if (!/^\s*[[{]/.test(first)) return 0;
  let open = countOpenBrackets(inline);
  if (inline !== '' && open <= 0) return 0;
  for (const [nth, line] of below.entries()) {
    open += countOpenBrackets(line);
    if (open <= 0 && line.trim() !== '') return nth + 1;
  }
  return 0;
}

function countOpenBrackets(line: string): number {
  const bare = line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '');
  return (bare.match(/[[{]/g)?.length ?? 0) - (bare.match(/[\]}]/g)?.length ?? 0);
}

function toRawEntry({
  key,
  inline,
  below,
}: FrontMatterSegment): Pick<FrontMatterEntry, 'key' | 'raw'> {
  return { key, raw: [inline, ...below].join('\n').trim() };
}

/** Tries possible meanings of a value, starting with the most literal one. */
function guessValue(
  segment: FrontMatterSegment,
  depth: number,
): Pick<FrontMatterEntry, 'value' | 'guess'> {
  const { key, inline, below } = segment;
  const text = [`${JSON.stringify(key)}: ${inline}`, ...below.map((line) => `  ${line}`)].join(
    '\n',
  );
  const strict = parseValue(text, true);
  if (strict !== undefined) return { value: strict.value, guess: null };
  const spaced = text.replaceAll(/^[ \t]+/gm, (indent) => indent.replaceAll('\t', '  '));
  const repaired = [
    { found: parseValue(spaced, true), guess: 'has tabs where YAML requires spaces' },
    { found: parseValue(spaced, false), guess: 'has the same key twice' },
  ].find(({ found }) => found !== undefined);
  if (repaired?.found !== undefined) return { value: repaired.found.value, guess: repaired.guess };
  return readLooseValue(segment, depth);
}

function readLooseValue(
  { inline, below }: FrontMatterSegment,
  depth: number,
): Pick<FrontMatterEntry, 'value' | 'guess'> {
  const whole = [inline, ...below].join('\n').trim();
  if (/^[[{]/.test(whole)) {
    const value = parseLooseJson(whole);
    if (value !== undefined) return { value, guess: 'is hand-written JSON' };
  }
  if (inline === '' && depth < MAX_DEPTH) {
    const inner = parseFrontMatterEntries(dedentText(below), depth + 1);
    if (inner.length > 0) {
      const value = Object.fromEntries(inner.map((entry) => [entry.key, entry.value]));
      return { value, guess: 'is not plain YAML' };
    }
  }
  return { value: toPlainValue(inline, below), guess: 'is not plain YAML, and was read as text' };
}

/** Parses the value of one key; undefined if it is not YAML. */
function parseValue(text: string, uniqueKeys: boolean): { readonly value: unknown } | undefined {
  try {
    const data: unknown = parse(text, {
      schema: 'core',
      maxAliasCount: 10,
      uniqueKeys,
      logLevel: 'error',
    });
    if (typeof data !== 'object' || data === null) return undefined;
    const values: unknown[] = Object.values(data);
    return values.length === 1 ? { value: values[0] } : undefined;
  } catch {
    return undefined;
  }
}

function dedentText(lines: readonly string[]): readonly string[] {
  const spaced = lines.map((line) =>
    line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  ')),
  );
  const depths = spaced.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const depth = Math.min(...depths);
  return Number.isFinite(depth) ? spaced.map((line) => line.slice(depth)) : spaced;
}

/**
 * Returns the text of a value that is not YAML, without surrounding quotes and with line breaks as
 * spaces.
 */
export function toPlainValue(inline: string, below: readonly string[] = []): string {
  const isBlock = /^[|>][+-]?\d?[+-]?$/.test(inline);
  const lines = isBlock ? below : [inline, ...below];
  return stripQuotes(
    lines
      .map((line) => line.trim())
      .join(' ')
      .trim(),
  );
}

function stripQuotes(text: string): string {
  const quote = text.at(0);
  if (quote !== '"' && quote !== "'") return text;
  const isClosed = text.length > 1 && text.endsWith(quote);
  const inner = text.slice(1, isClosed ? -1 : undefined);
  if (!isClosed && inner.includes(quote)) return text;
  return quote === '"' ? inner.replaceAll('\\"', '"') : inner.replaceAll("''", "'");
}
