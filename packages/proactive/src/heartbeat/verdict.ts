import { QUIET_TOKEN } from '@parley/core';

/** The verdict on a run's answer (H03). Only an `alert` is sent. */
type HeartbeatAnswerVerdict =
  | { readonly kind: 'quiet'; readonly reason: string }
  /** The text does not contain the token in any spelling. */
  | { readonly kind: 'alert'; readonly text: string }
  /** The answer is neither quiet nor an alert, and is logged with its text. */
  | { readonly kind: 'unclear'; readonly reason: string; readonly text: string };

/** Matches the start of a sentence about the token: "I would answer HEARTBEAT_OK, because …". */
const SPEAKS_OF_IT =
  /\b(?:answer|answering|reply|replying|respond|responding|say|saying|return|returning|send|sending|output|with|is|be)[:\s*_`"'“„«(]*$/iu;
/** Matches an answer that only confirms. */
const NODS =
  /^(?:ok|okay|k|done|fine|noted|understood|all (?:is )?(?:ok|okay|good|quiet|clear|fine|well)|everything (?:is )?(?:ok|okay|fine|good)|nothing (?:new|to (?:report|do|tell))|no (?:news|alerts?|changes?|updates?)|heartbeat(?: (?:is )?(?:ok|okay|fine|good))?|none|n\/a|null|undefined)$/iu;
const SILENT = /^NO[_ -]?REPLY$/i;
/** Matches an answer that was cut off inside the token. */
const CUT_TOKEN = /^HEARTB(?:E(?:A(?:T_?O?)?)?)?$/i;

/**
 * Judges a run's answer; it counts as an alert only if it clearly is one. `rest` is the maximum
 * length of the text beside a token at the start or end of an answer, in characters.
 */
export function judgeHeartbeatAnswer(answer: string, rest = 300): HeartbeatAnswerVerdict {
  if (!hasOtherContent(answer)) return { kind: 'quiet', reason: 'it said nothing' };
  const places = findQuietSpellings(answer);
  const [first] = places;
  if (first === undefined) return parseAnswerVerdict(answer);
  const last = places.at(-1) ?? first;
  const text = removeSpellings(answer);
  if (!hasOtherContent(text)) return { kind: 'quiet', reason: 'it said that all is quiet' };
  const lead = answer.slice(0, first.start);
  const isAtEdge = !hasOtherContent(lead) || !hasOtherContent(answer.slice(last.end));
  if ([...text].length > rest) return { kind: 'alert', text };
  if (isAtEdge) return { kind: 'quiet', reason: 'it said that all is quiet, and little else' };
  if (!SPEAKS_OF_IT.test(lead)) return { kind: 'alert', text };
  return { kind: 'unclear', reason: 'it mentioned the token in a sentence', text: answer };
}

function parseAnswerVerdict(answer: string): HeartbeatAnswerVerdict {
  const text = answer.trim();
  const words = text
    .normalize('NFKC')
    .replace(/[\p{Cf}\\]/gu, '')
    .replace(/^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, '');
  if (SILENT.test(words)) return { kind: 'quiet', reason: 'it answered NO_REPLY' };
  if (CUT_TOKEN.test(words)) return { kind: 'unclear', reason: 'its answer breaks off', text };
  if (NODS.test(words.replace(/\s+/g, ' '))) {
    return { kind: 'unclear', reason: 'it only nodded', text };
  }
  return { kind: 'alert', text };
}

/** The location of a spelling of the quiet token, in UTF-16 units; `end` is exclusive. */
interface SpellingLocation {
  readonly start: number;
  readonly end: number;
}

/** The two words of the token, joined by an underscore. */
const [FIRST = '', SECOND = ''] = QUIET_TOKEN.split('_');

/**
 * Matches `HEARTBEAT_OK` in any spelling: any case, and `-` or nothing instead of the underscore.
 * With a space instead, only capitals match, because "the heartbeat ok light" is ordinary text.
 * "OKAY" counts as a misspelling of the token.
 */
const SPELLINGS = new RegExp(
  [
    toWordsPattern(`${FIRST} {0,2}[_-] {0,2}${SECOND}(?:AY)?`),
    `${QUIET_TOKEN}(?:AY(?!\\p{L}))?`,
    toWordsPattern(FIRST + SECOND),
  ].join('|'),
  'giu',
);
const IN_CAPITALS = new RegExp(toWordsPattern(`${FIRST} {1,3}${SECOND}(?:AY)?`), 'gu');
/** Matches invisible characters and marks, which may be part of a token. */
const PASSED_OVER = /^[\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}*~`\\]$/u;
/** Matches one character, either literally or as an HTML entity. */
const CHARACTER =
  /&(?:#(?<decimal>\d{1,7})|#x(?<hex>[\da-f]{1,6})|(?<name>lowbar|nbsp|zwnj|zwj|shy|hyphen));?|./gisu;
const NAMED: Readonly<Record<string, string>> = { lowbar: '_', nbsp: ' ', hyphen: '-' };

function toWordsPattern(pattern: string): string {
  return `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`;
}

/** Finds all spellings of the token in a text, in ascending order and without overlaps. */
export function findQuietSpellings(written: string): readonly SpellingLocation[] {
  if (written.length < (FIRST + SECOND).length) return [];
  let text = '';
  /** The position of each unit of `text` in the original. */
  const origins: SpellingLocation[] = [];
  for (const { 0: raw, index: start, groups = {} } of written.matchAll(CHARACTER)) {
    const plain = toPlainCharacter(groups, raw);
    text += plain;
    for (const _unit of plain.split('')) origins.push({ start, end: start + raw.length });
  }
  const found = [...text.matchAll(SPELLINGS), ...text.matchAll(IN_CAPITALS)]
    .map(({ index, 0: all }) => ({
      start: origins[index]?.start ?? 0,
      end: origins[index + all.length - 1]?.end ?? written.length,
    }))
    .sort((a, b) => a.start - b.start);
  return found.filter(({ start }, index) => index === 0 || start >= (found[index - 1]?.end ?? 0));
}

/**
 * Normalizes a text to what people read: compatibility forms are unified, dashes and underscores
 * are reduced to one kind each, and invisible characters are removed.
 */
function toPlainCharacter({ decimal, hex, name }: MatchGroups, raw: string): string {
  const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10);
  const named = name === undefined ? raw : (NAMED[name.toLowerCase()] ?? '');
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : named;
  if (PASSED_OVER.test(character)) return '';
  return character
    .normalize('NFKC')
    .replace(/[^\S\n]/gu, ' ')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\p{Pc}/gu, '_');
}

type MatchGroups = Readonly<Record<string, string | undefined>>;

/**
 * Matches characters that a person could read: letters, digits and pictographs, except the system
 * mark.
 */
const VISIBLE =
  /[[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]--[⚙\p{Default_Ignorable_Code_Point}]]/v;
/** Matches paired marks or tags around removed text. */
const PAIR =
  /([*_~`"'])\0\1|\(\0\)|\[\0\]|\{\0\}|<\0>|“\0”|„\0“|«\0»|「\0」|‘\0’|（\0）|<([a-z]{1,10})>\0<\/\2>/gi;

function hasOtherContent(text: string): boolean {
  return VISIBLE.test(text);
}

/**
 * Removes every spelling of the quiet token, and the lines and marks that contained only that. `\0`
 * marks where something was removed; models do not write this character. Finally, a space replaces
 * the mark, so that the text on both sides cannot form another token.
 */
function removeSpellings(written: string): string {
  let text = written;
  for (
    let places = findQuietSpellings(text);
    places.length > 0;
    places = findQuietSpellings(text)
  ) {
    const between = [...places, { start: text.length, end: 0 }].map(({ start }, index) =>
      text.slice(places[index - 1]?.end ?? 0, start),
    );
    text = cleanUpAlert(removeEmptyPairs(between.join('\0')));
  }
  return text;
}

function removeEmptyPairs(text: string): string {
  const outer = text.replace(PAIR, '\0');
  return outer === text ? text : removeEmptyPairs(outer);
}

/**
 * Drops lines that contained only the token. In other lines a space remains, without punctuation at
 * the start of the line.
 */
function cleanUpAlert(text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    if (!line.includes('\0')) return [line];
    if (!hasOtherContent(line)) return [];
    return [
      line
        .replace(/^([\s>#*+-]*)\0[\s\0.,;:!?…。–—-]*/u, '$1')
        .replace(/(?<!\s)\s*\0[\s\0]*([.,;:!?…。])/gu, '$1')
        .replace(/(?<!\s)\s*\0[\s\0]*$/u, '')
        .replace(/(?<!\s)\s*\0[\s\0]*/gu, ' '),
    ];
  });
  return removeEmptyFences(lines.join('\n'))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function removeEmptyFences(text: string): string {
  return text.replace(/(^|\n)[ \t]*(`{3,}|~{3,})[\w-]*[ \t]*\n\s*\2[ \t]*(?=\n|$)/g, '$1');
}
