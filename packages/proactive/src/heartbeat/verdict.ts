import {
  type BeatVerdict,
  type Clock,
  type JudgeBeat,
  type Logger,
  QUIET_TOKEN,
} from '@parley/contracts';
import type { Store } from '@parley/store';
import { alertFingerprint, quietUntil, readQuietHours, repeatSince } from '../alerts.ts';
import { zoneClock } from '../zone-clock.ts';

/** What judging needs. */
export interface JudgeDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly timeZone: string };
  /** `quietHours` as in the settings: `off`, or `22:00-07:00`. */
  readonly settings: { readonly quietHours: string; readonly repeatHours: number };
  readonly clock: Clock;
  readonly log: Logger;
}

/** So much of an unclear answer is logged, in characters. */
const LOGGED = 200;

/** Decides what becomes of the answer to a heartbeat: quiet, told now, told later, or told already (H03, H04). */
export function createJudge({ store, agent, settings, clock, log }: JudgeDeps): JudgeBeat {
  const hours = readQuietHours(settings.quietHours);
  const zone = zoneClock(agent.timeZone);
  return async (answer, run): Promise<BeatVerdict> => {
    const verdict = heartbeatVerdict(answer);
    if (verdict.kind === 'quiet') return { state: 'quiet', reason: verdict.reason };
    if (verdict.kind === 'unclear') {
      const said = verdict.text.slice(0, LOGGED);
      log.warn(
        { agent: run.agent, task: run.task, said },
        'an unclear heartbeat is told to nobody',
      );
      return { state: 'unclear', reason: verdict.reason };
    }
    const now = clock();
    const fingerprint = alertFingerprint(verdict.text);
    const since = repeatSince(now, settings.repeatHours);
    if (await store.heartbeats.alertedSince(run.agent, fingerprint, since)) {
      const reason = `it was told already within ${settings.repeatHours} h`;
      return { state: 'repeated', reason };
    }
    const heldUntil = quietUntil(hours, { clock: zone, now });
    const held = heldUntil === null ? {} : { heldUntil };
    return { state: 'alerted', text: verdict.text, fingerprint, ...held };
  };
}

/** What a run of a standing task comes to (H03). Of all but `alert` nobody is told. */
type HeartbeatVerdict =
  | { readonly kind: 'quiet'; readonly reason: string }
  /** Holds no spelling of the token. */
  | { readonly kind: 'alert'; readonly text: string }
  /** Neither: it is logged, with what was said. */
  | { readonly kind: 'unclear'; readonly reason: string; readonly text: string };

/** So much may stand beside a token that begins or ends an answer, in characters. */
const QUIET_REST = 300;

/** A sentence about the token: "I would answer HEARTBEAT_OK, because …". */
const SPEAKS_OF_IT =
  /\b(?:answer|answering|reply|replying|respond|responding|say|saying|return|returning|send|sending|output|with|is|be)[:\s*_`"'“„«(]*$/iu;
/** Nothing but a nod, as whole answer. */
const NODS =
  /^(?:ok|okay|k|done|fine|noted|understood|all (?:is )?(?:ok|okay|good|quiet|clear|fine|well)|everything (?:is )?(?:ok|okay|fine|good)|nothing (?:new|to (?:report|do|tell))|no (?:news|alerts?|changes?|updates?)|heartbeat(?: (?:is )?(?:ok|okay|fine|good))?|none|n\/a|null|undefined)$/iu;
const SILENT = /^NO[_ -]?REPLY$/i;
/** The model's answer was cut off in the token. */
const BEGUN = /^HEARTB(?:E(?:A(?:T_?O?)?)?)?$/i;

/** Judges the answer of a run: whatever is not plainly an alert stays quiet. */
export function heartbeatVerdict(answer: string): HeartbeatVerdict {
  if (!saysSomething(answer)) return { kind: 'quiet', reason: 'it said nothing' };
  const places = quietSpellings(answer);
  const [first] = places;
  if (first === undefined) return withoutToken(answer);
  const last = places.at(-1) ?? first;
  const text = withoutSpellings(answer);
  if (!saysSomething(text)) return { kind: 'quiet', reason: 'it said that all is quiet' };
  const lead = answer.slice(0, first.start);
  const isAtEdge = !saysSomething(lead) || !saysSomething(answer.slice(last.end));
  if ([...text].length > QUIET_REST) return { kind: 'alert', text };
  if (isAtEdge) return { kind: 'quiet', reason: 'it said that all is quiet, and little else' };
  if (!SPEAKS_OF_IT.test(lead)) return { kind: 'alert', text };
  return { kind: 'unclear', reason: 'it spoke of being quiet', text: answer };
}

function withoutToken(answer: string): HeartbeatVerdict {
  const text = answer.trim();
  const words = text
    .normalize('NFKC')
    .replace(/[\p{Cf}\\]/gu, '')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  if (SILENT.test(words)) return { kind: 'quiet', reason: 'it answered NO_REPLY' };
  if (BEGUN.test(words)) return { kind: 'unclear', reason: 'its answer breaks off', text };
  if (NODS.test(words.replace(/\s+/g, ' '))) {
    return { kind: 'unclear', reason: 'it only nodded', text };
  }
  return { kind: 'alert', text };
}

/** Where a spelling of the quiet token stands in a text, in UTF-16 units; `end` is not in it. */
interface SpellingPlace {
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

/** What a person could read: letters, digits and pictures, but not the mark of the system. */
const VISIBLE =
  /[[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]--[⚙\p{Default_Ignorable_Code_Point}]]/v;
const PAIRS: readonly string[] = ['()', '[]', '{}', '<>', '“”', '„“', '«»', '「」', '‘’', '（）'];
const SAME: ReadonlySet<string> = new Set(['*', '_', '~', '`', '"', "'"]);

/** Whether a person could read anything of it. */
function saysSomething(text: string): boolean {
  return VISIBLE.test(text);
}

/** A text without any spelling of the quiet token, and without the lines and marks that held it alone. */
function withoutSpellings(written: string): string {
  let text = written;
  for (let places = quietSpellings(text); places.length > 0; places = quietSpellings(text)) {
    // A space stays, so that what stood on both sides becomes no new token.
    text = tidied(
      cut(
        text,
        places.map((place) => widened(text, place)),
      ),
    );
  }
  return text;
}

/** Takes the pairs of marks round a token along. */
function widened(text: string, { start, end }: SpellingPlace): SpellingPlace {
  const [before = '', after = ''] = [text[start - 1], text[end]];
  const isPair =
    (before !== '' && SAME.has(before) && before === after) || PAIRS.includes(before + after);
  if (isPair) return widened(text, { start: start - 1, end: end + 1 });
  const tags = tagsRound(text, { start, end });
  if (tags === null) return { start, end };
  return widened(text, { start: start - tags.open, end: end + tags.close });
}

/** The width of `<b>` before and of `</b>` behind a token; null where there are none. */
function tagsRound(text: string, { start, end }: SpellingPlace) {
  const [open = '', name = ''] =
    /<([a-z]{1,10})>$/i.exec(text.slice(Math.max(0, start - 12), start)) ?? [];
  const close = `</${name}>`;
  const isPair = open !== '' && text.startsWith(close, end);
  return isPair ? { open: open.length, close: close.length } : null;
}

/** `\0` stands where something was taken out: models write none, and it is gone in the end. */
function cut(text: string, places: readonly SpellingPlace[]): string {
  let kept = '';
  let from = 0;
  for (const { start, end } of places) {
    if (start > from) kept += text.slice(from, start);
    kept += '\0';
    from = Math.max(from, end);
  }
  return kept + text.slice(from);
}

/** Lines that held nothing else go; in the others a space stays, and no stop at their beginning. */
function tidied(text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    if (!line.includes('\0')) return [line];
    if (!saysSomething(line)) return [];
    return [
      line
        .replace(/^([\s>#*+-]*)\0[\s\0.,;:!?…。–—-]*/u, '$1')
        .replace(/\s*\0[\s\0]*([.,;:!?…。])/gu, '$1')
        .replace(/\s*\0[\s\0]*$/u, '')
        .replace(/\s*\0[\s\0]*/gu, ' '),
    ];
  });
  return withoutEmptyFences(lines.join('\n'))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function withoutEmptyFences(text: string): string {
  return text.replace(/(^|\n)[ \t]*(`{3,}|~{3,})[\w-]*[ \t]*\n\s*\2[ \t]*(?=\n|$)/g, '$1');
}
