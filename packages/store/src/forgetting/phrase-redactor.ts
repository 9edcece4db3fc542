/**
 * Returns a value with certain phrases removed; the same value, not a copy, if it does not contain
 * them.
 */
export type Redact = (value: unknown) => unknown;

/** Fields that contain values for code instead of human text; they stay unchanged. */
const FIXED: ReadonlySet<string> = new Set(
  (
    'account callId callKey channel chatId conversationId data dialect effect hash id kind layer ' +
    'mentions messageId mimeType mode outcome placement pressed ref replyToMessageId response role roles ' +
    'senderId signature state style threadId timeZone toolCallId trigger turnId type unit'
  ).split(' '),
);

/**
 * The maximum lengths of fields, because a placeholder may be longer than the phrase that it
 * replaces.
 */
const MAX_CHARACTERS: Readonly<Record<string, number>> = { asks: 45, label: 64, name: 255 };

/**
 * Phrases shorter than this, in characters, match only whole words, so that `art` is not cut out of
 * `party`.
 */
const PIECE = 4;

/**
 * Creates a function that replaces phrases with `mark`, in a string or in all strings within a JSON
 * value. The function returns the same value, not a copy, if it does not find a phrase. Replaces
 * longer phrases first. The structure is preserved: field names, ids and kinds stay unchanged.
 */
export function createPhraseRedactor(
  phrases: readonly string[],
  mark: string,
): (value: unknown) => unknown {
  const forms = phrases.flatMap((phrase) => [phrase, escapeForHtml(phrase), escapeForJson(phrase)]);
  const sorted = [...new Set(forms.map((form) => form.trim()))]
    .filter((form) => form !== '')
    .sort((one, other) => other.length - one.length);
  if (sorted.length === 0) return (value) => value;
  const pattern = new RegExp(sorted.map(toPhrasePattern).join('|'), 'giu');
  return createTextMapper((text) => text.replace(pattern, () => mark));
}

/**
 * Creates a function that replaces every string with `mark`, except in fields that contain values
 * for code.
 */
export function createTextRedactor(mark: string): (value: unknown) => unknown {
  return createTextMapper((text) => (text === '' ? text : mark));
}

function createTextMapper(inText: (text: string) => string): (value: unknown) => unknown {
  const inList = (items: readonly unknown[]): unknown => {
    const changed = items.map(inside);
    return changed.every((item, at) => item === items[at]) ? items : changed;
  };
  const inObject = (value: object): unknown => {
    const entries = Object.entries(value);
    const isCall = 'arguments' in value;
    const changed = entries.map(([key, item]) => {
      if (key === 'variables') return [key, inVariables(item)] as const;
      // A tool's name is not human text.
      if (FIXED.has(key) || (isCall && key === 'name')) return [key, item] as const;
      const after = inside(item);
      const most = MAX_CHARACTERS[key];
      const isCut = typeof after === 'string' && most !== undefined && after !== item;
      return [key, isCut ? after.slice(0, most).toWellFormed() : after] as const;
    });
    const isSame = changed.every(([, item], at) => item === entries[at]?.[1]);
    return isSame ? value : Object.fromEntries(changed);
  };
  /** Variable names are also chosen by people. */
  const inVariables = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return inside(value);
    const entries = Object.entries(value);
    const changed = entries.map(([key, item]) => [inText(key), inside(item)] as const);
    const isSame = changed.every(
      ([key, item], at) => key === entries[at]?.[0] && item === entries[at]?.[1],
    );
    return isSame ? value : Object.fromEntries(changed);
  };
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return inList(value);
    return typeof value === 'object' && value !== null ? inObject(value) : value;
  };
  return inside;
}

/**
 * A space in a phrase also matches a line break, whether plain, escaped as in JSON, or followed by
 * the prefix of a quoted call.
 */
function toPhrasePattern(word: string): string {
  const pieces = word.split(/\s+/).map((piece) => RegExp.escape(piece));
  const pattern = pieces.join(String.raw`(?:\s|\\[nrt]|(?<=\n)[|+])+`);
  const isShort =
    [...word].length < PIECE &&
    !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(word);
  return isShort ? String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])` : pattern;
}

function escapeForHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The arguments of a tool call are stored as the JSON text that the model wrote. */
function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
