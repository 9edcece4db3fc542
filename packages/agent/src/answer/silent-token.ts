import { QUIET_TOKEN, SILENT_TOKEN } from '@parley/core';

const TOKENS = [SILENT_TOKEN, QUIET_TOKEN] as const;

/** Characters that a person can read: letters, digits and pictographs, except the system mark. */
const SEEN = '[[\\p{L}\\p{N}\\p{RI}\\p{Extended_Pictographic}]--[⚙]]';
const UNSEEN = '[^[\\p{L}\\p{N}\\p{RI}\\p{Extended_Pictographic}]--[⚙]]';
const VISIBLE = new RegExp(SEEN, 'v');
const UNSEEN_EDGES = new RegExp(`^${UNSEEN}+|(?<!${UNSEEN})${UNSEEN}+$`, 'gv');

/**
 * Matches a token even if other characters separate its letters, such as invisible ones or an
 * escaped underscore.
 */
const LETTERS = TOKENS.map((token) =>
  [...token].map((letter) => (letter === '_' ? '\\\\?_' : letter)),
);
const ANY = LETTERS.map((letters) => letters.join('\\p{Cf}*')).join('|');
const STARTED = LETTERS.map((letters) =>
  letters.reduceRight((rest, letter) => `${letter}\\p{Cf}*(?:\\\\?${rest})?`, ''),
).join('|');

const HELD = new RegExp(ANY, 'iv');
const AT_START = new RegExp(`^(${UNSEEN}*?)(${ANY})`, 'iv');
const AT_END = new RegExp(`(${ANY})(${UNSEEN}*)$`, 'iv');
const OWN_PARAGRAPH = new RegExp(
  `\\n[ \\t]*\\n(?:(?!\\n)${UNSEEN})*(?:${ANY})(?:(?!\\n)${UNSEEN})*(?=\\n[ \\t]*\\n)`,
  'giv',
);
const MAY_BECOME = new RegExp(`(?:${UNSEEN}+|${ANY}|${STARTED})$`, 'iv');
const IS_OVER = new RegExp(`(?:${UNSEEN}+|${ANY})$`, 'iv');

/**
 * Matches text that is certainly not a token: it starts with a letter, a digit or `_` and contains
 * more of these characters than any token.
 */
const LONGER_THAN_TOKENS = new RegExp(
  `^\\w(?:[^\\p{L}\\p{N}]*[\\p{L}\\p{N}]){${Math.max(...TOKENS.map(({ length }) => length))}}`,
  'u',
);

export function hasVisibleText(text: string): boolean {
  return VISIBLE.test(text);
}

export function containsSilentToken(text: string): boolean {
  return HELD.test(text);
}

/**
 * The token that makes up the whole message, or null. Accepts more spellings than elsewhere (any
 * case, and capitals with a space or a hyphen), because no other text is lost. The sentence "No
 * reply." is a real answer, not a token.
 */
export function matchSilentToken(text: string): string | null {
  if (LONGER_THAN_TOKENS.test(text)) return null;
  const words = normalizeTokenText(text);
  return (
    TOKENS.find((token) => words.toUpperCase() === token || words.replace(/[ -]/, '_') === token) ??
    null
  );
}

/** Whether a growing message might turn out to be nothing but a token. */
export function canBecomeSilentToken(text: string): boolean {
  if (LONGER_THAN_TOKENS.test(text)) return false;
  if (/^\s*(?:`{3,}|~{3,})[\w-]*$/.test(text)) return true;
  const words = normalizeTokenText(text).toUpperCase().replace(/[ -]/, '_');
  return TOKENS.some((token) => token.startsWith(words));
}

function normalizeTokenText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/^\s*(?:`{3,}|~{3,})[\w-]*\n/, '')
    .replaceAll('\\_', '_')
    .replace(UNSEEN_EDGES, '');
}

export function removeLeadingToken(text: string): string | null {
  const [all, lead = '', token = ''] = AT_START.exec(text) ?? [];
  if (all === undefined) return null;
  const rest = text.slice(all.length);
  const [line = ''] = rest.split('\n', 1);
  const isAlone = !hasVisibleText(line);
  if (/^_*\p{N}|^_+\p{L}/u.test(rest) || !isIntendedToken(token, isAlone)) return null;
  const [before, after] = unwrapToken(lead, rest);
  // Otherwise the empty marker of a list item or quotation would end up at the start of the next
  // line.
  const kept = isAlone ? before.replace(/(^|\n)(?:[ \t>+#–—-]|\*(?=[ \t]))*$/u, '') : before;
  const next = after.replace(/^[\s\p{Cf}.,;:!?…。–—-]+/u, '');
  // A frame must be at the beginning of a line, so the line break before it is kept.
  const gap = isAlone && kept.trim() !== '' && /^[<[]/.test(next) ? '\n' : '';
  return kept.trim() + gap + next;
}

export function removeTrailingToken(text: string): string | null {
  const found = AT_END.exec(text);
  if (found === null) return null;
  const [, token = '', tail = ''] = found;
  const lead = text.slice(0, found.index);
  const isPartOfName = /[\p{Lu}\p{N}]$|[\p{L}\p{N}]_+$/u.test(lead);
  const isAlone = !hasVisibleText(lead.slice(lead.lastIndexOf('\n') + 1));
  if (isPartOfName || !isIntendedToken(token, isAlone)) return null;
  const [before, after] = unwrapToken(lead, tail);
  // Matches the marker of a list item or quotation that contained only the token.
  const kept = before.replace(/(^|\n)[ \t>*+#–—-]*$/u, '').trimEnd();
  // A bracket on a later line would complete a tag or frame on the line before, which people have
  // already seen.
  const joined = isAlone || after.includes('\n') ? after.replace(/[\]>]/g, '') : after;
  return kept + joined.replace(/[\s\p{Cf}.,;:!?…。–—-]+/gu, '');
}

export function removeTokenParagraphs(text: string): string {
  return text.replace(OWN_PARAGRAPH, '');
}

/**
 * On a line with other words, only a token in capitals counts: "the column is called no_reply" is
 * left unchanged.
 */
function isIntendedToken(token: string, isAlone: boolean): boolean {
  const plain = token.replace(/[\\\p{Cf}]/gu, '');
  return isAlone || plain === plain.toUpperCase();
}

const CLOSING: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  '<': '>',
  '“': '”',
  '„': '“',
  '«': '»',
  '‹': '›',
  '「': '」',
  '『': '』',
  '‘': '’',
  '‚': '‘',
  '*': '*',
  _: '_',
  '~': '~',
  '`': '`',
  '"': '"',
  "'": "'",
};

/** Removes the paired marks (such as `**`) around a token; marks around other words stay. */
function unwrapToken(before: string, after: string): readonly [string, string] {
  const fence = /(?:^|\n)[ \t]*(`{3,}|~{3,})\s*$/.exec(before);
  if (fence !== null && after.trimStart().startsWith(fence[1] ?? '')) {
    return [before.slice(0, fence.index), after.trimStart().slice(fence[1]?.length)];
  }
  const closing = CLOSING[before.at(-1) ?? ''];
  if (closing === undefined || !after.startsWith(closing)) return [before, after];
  return unwrapToken(before.slice(0, -1), after.slice(1));
}

/**
 * The length of the beginning of a growing text that can no longer become part of a token, in
 * UTF-16 units.
 */
export function getStableLength(text: string): number {
  let end = text.length;
  for (let pattern = MAY_BECOME; end > 0; pattern = IS_OVER) {
    const [held = ''] = pattern.exec(text.slice(Math.max(0, end - MAX_TOKEN_LENGTH), end)) ?? [];
    if (held === '') break;
    end -= held.length;
  }
  const isSplit = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
  return isSplit ? end - 1 : end;
}

/** Longer than any token, even with invisible characters between its letters, in UTF-16 units. */
const MAX_TOKEN_LENGTH = 100;
