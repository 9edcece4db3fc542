import { QUIET_TOKEN } from '@parley/contracts';

/** Where a spelling of the quiet token stands in a text, in UTF-16 units; `end` is not in it. */
export interface SpellingPlace {
  readonly start: number;
  readonly end: number;
}

/** A text as it reads, and where each of its characters came from. */
interface Folded {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** The two words of the token, which a low line joins. */
const [FIRST = '', SECOND = ''] = QUIET_TOKEN.split('_');

/**
 * `HEARTBEAT_OK` however it is written: any case, `-` or nothing for the underscore; with a space in
 * capitals alone, since "the heartbeat ok light" is somebody's subject. "OKAY" is a slip of the pen.
 */
const SPELLINGS = new RegExp(
  [
    asWords(`${FIRST} {0,2}[_-] {0,2}${SECOND}(?:AY)?`),
    `${QUIET_TOKEN}(?:AY(?!\\p{L}))?`,
    asWords(FIRST + SECOND),
  ].join('|'),
  'giu',
);
const IN_CAPITALS = new RegExp(asWords(`${FIRST} {1,3}${SECOND}(?:AY)?`), 'gu');
/** Nobody sees these, or they are marks: a token is one with them, too. */
const PASSED_OVER = /^[\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}*~`\\]$/u;
/** A character written as HTML does it. */
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(lowbar|nbsp|zwnj|zwj|shy|hyphen));?/iy;
const NAMED: Readonly<Record<string, string>> = { lowbar: '_', nbsp: ' ', hyphen: '-' };

function asWords(pattern: string): string {
  return `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`;
}

/** All places, ascending, none in another. */
export function quietSpellings(written: string): readonly SpellingPlace[] {
  if (written.length < (FIRST + SECOND).length) return [];
  const { text, starts, ends } = folded(written);
  const found = [...text.matchAll(SPELLINGS), ...text.matchAll(IN_CAPITALS)]
    .map(({ index, 0: all }) => ({
      start: starts[index] ?? 0,
      end: ends[index + all.length - 1] ?? written.length,
    }))
    .sort((a, b) => a.start - b.start);
  return found.filter(({ start }, index) => index === 0 || start >= (found[index - 1]?.end ?? 0));
}

function folded(written: string): Folded {
  let text = '';
  const starts: number[] = [];
  const ends: number[] = [];
  for (let at = 0; at < written.length; ) {
    const [character, length] = characterAt(written, at);
    for (const each of PASSED_OVER.test(character) ? '' : character.normalize('NFKC')) {
      const plain = /^[\s]$/u.test(each) && each !== '\n' ? ' ' : dashless(each);
      text += plain;
      for (let unit = 0; unit < plain.length; unit += 1) {
        starts.push(at);
        ends.push(at + length);
      }
    }
    at += length;
  }
  return { text, starts, ends };
}

/** All dashes and low lines are one. */
function dashless(character: string): string {
  if (/^\p{Pd}$/u.test(character)) return '-';
  return /^\p{Pc}$/u.test(character) ? '_' : character;
}

/** The character at this place, and how much of the text it takes. */
function characterAt(written: string, at: number): readonly [string, number] {
  if (written[at] === '&') {
    REFERENCE.lastIndex = at;
    const found = REFERENCE.exec(written);
    if (found !== null) {
      const [all, decimal, hex, name] = found;
      const code = name === undefined ? Number.parseInt(decimal ?? hex ?? '', hex ? 16 : 10) : -1;
      const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      const named = NAMED[name?.toLowerCase() ?? ''] ?? '';
      return [isCharacter ? String.fromCodePoint(code) : named, all.length];
    }
  }
  const character = String.fromCodePoint(written.codePointAt(at) ?? 0);
  return [character, character.length];
}
