import { isBlock, type TextField, type ValueField } from './fields.ts';

/** An empty list, which differs from an absent list: `allow: []` allows nothing. */
const EMPTY_LIST = '[]';

/**
 * Parses typed text as a settings value; undefined means that the default applies. As in the file,
 * double quotes make a value a string: "5" is not a number, and "" is empty text.
 */
export function parseTypedValue(field: ValueField, typed: string): unknown {
  if (typed.trim() === '') return undefined;
  switch (field.kind) {
    case 'switch':
      return typed === 'true' || typed === 'false' ? typed === 'true' : typed;
    case 'list':
      return typed.trim() === EMPTY_LIST
        ? []
        : splitLines(typed).map((line) => parseTypedLine(field, line));
    case 'text':
      return parseTypedText(field, typed);
    case 'json':
      return parseJsonOrText(typed);
    case 'choice':
      return typed;
  }
}

function splitLines(typed: string): readonly string[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function parseTypedLine({ numbers }: { readonly numbers: boolean }, line: string): unknown {
  return parseQuotedText(line) ?? (numbers ? parseNumberOrText(line) : line);
}

function parseTypedText({ numbers, flags }: TextField, typed: string): unknown {
  const quoted = parseQuotedText(typed);
  const word = typed.trim();
  if (quoted !== undefined) return quoted;
  if (flags && (word === 'true' || word === 'false')) return word === 'true';
  return numbers ? parseNumberOrText(word) : typed;
}

/** Returns the text in double quotes; undefined if it is not a valid JSON string. */
function parseQuotedText(typed: string): string | undefined {
  const text = typed.trim();
  if (!/^".*"$/s.test(text)) return undefined;
  const value = parseJsonOrText(text);
  return typeof value === 'string' && value !== text ? value : undefined;
}

/** Words and references stay text, and so do numbers that would lose precision. */
function parseNumberOrText(typed: string): string | number {
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(typed) && String(Number(typed)) === typed;
  const isRounded = /^-?\d*\.\d*0+$/.test(typed) && Number.isFinite(Number(typed));
  return isNumber || isRounded ? Number(typed) : typed;
}

/** Text that is not valid JSON is kept as a string. */
function parseJsonOrText(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** Formats a settings value as text for a field; `parseTypedValue` parses it back to the same value. */
export function formatTypedValue(field: ValueField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && field.kind === 'list') {
    return value.length === 0
      ? EMPTY_LIST
      : value.map((one) => formatTypedLine(field, one)).join('\n');
  }
  if (isBlock(value) || Array.isArray(value)) return JSON.stringify(value, null, 2);
  const plain = String(value);
  return parseTypedValue(field, plain) === value ? plain : JSON.stringify(value);
}

function formatTypedLine(field: { readonly numbers: boolean }, value: unknown): string {
  const plain = String(value);
  const isLine = splitLines(plain)[0] === plain && plain !== EMPTY_LIST;
  return isLine && parseTypedLine(field, plain) === value ? plain : JSON.stringify(value);
}
