import type { RunMark, TextRun } from '../document.ts';
import { findCommonMarks, findLink } from '../transform/runs.ts';
import { isFoundInText, SIGNS, toDiscordRuns } from './discord-links.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import { walkRuns } from './lines.ts';
import { isCodeRun } from './outer-space.ts';

export interface DiscordPage {
  text: string;
  /** The number of nodes in Discord's parser: marks, links, code, lists, emoji. */
  nodes: number;
  /** Characters of literal text that need a backslash because of other text in the message. */
  readonly escaped: ReadonlySet<string>;
  /** Whether text that looks like a mention stays a live mention. */
  readonly live: boolean;
  /** Whether the next text is in a position where a heading, list or quote may begin. */
  startsLine: boolean;
  /**
   * Whether the next text follows a line break in a list item, which Discord drops before a special
   * character.
   */
  joins: boolean;
  /** Whether the last output begins or ends a mark, or is code or a URL. */
  after: 'start' | 'end' | undefined;
  /** Whether a `](` would end the last link, because Discord searches for the last one. */
  endsLink: boolean;
}

export function createDiscordPage(texts: readonly string[], live: boolean): DiscordPage {
  const escaped = new Set<string>();
  // An underscore ends italic text only when no letter or digit follows.
  if (texts.some((text) => /_(?![0-9A-Za-z])/.test(text))) escaped.add('_');
  // Code and URLs may contain the closing sequence of a link.
  if (texts.some((text) => text.includes(']('))) escaped.add('[');
  return {
    text: '',
    nodes: 0,
    escaped,
    live,
    startsLine: true,
    joins: false,
    after: undefined,
    endsLink: false,
  };
}

/**
 * The prefix of the lines after the first, and whether Discord treats these lines as part of a list
 * item.
 */
export interface LineStart {
  readonly prefix: string;
  readonly inItem: boolean;
}

/**
 * A line break and the prefix of the next line. In Discord an empty line would end a list item or
 * its text; a line with a space does not.
 */
export function startNewLine(page: DiscordPage, { prefix, inItem }: LineStart): void {
  if (inItem && page.text.endsWith(`\n${prefix}`)) page.text += ' ';
  page.text += `\n${prefix}`;
  page.startsLine = true;
  page.joins = inItem;
  page.after = undefined;
}

/** Writes markup, or text that needs no escaping. */
export function writeMarkup(page: DiscordPage, text: string, after?: DiscordPage['after']): void {
  page.text += page.joins ? ZERO_WIDTH_SPACE + text : text;
  page.joins = false;
  page.startsLine = false;
  page.after = after;
  page.endsLink &&= !text.includes('[');
}

/** Writes code or a URL, whatever it contains. */
export function writeRaw(page: DiscordPage, text: string): void {
  const breaks = (start: string) => start.replaceAll('](', `]${ZERO_WIDTH_SPACE}(`);
  writeMarkup(page, page.endsLink ? text.replace(/^[^[]*/, breaks) : text, 'end');
  page.nodes += 1;
}

export function writeRuns(page: DiscordPage, all: readonly TextRun[], line: LineStart): void {
  const runs = toDiscordRuns(all);
  walkRuns(runs, {
    open: (mark) => (isAtomicMark(mark) ? undefined : openMark(page, mark)),
    close: (mark) => (isAtomicMark(mark) ? undefined : closeMark(page, mark)),
    text: (text, index) => {
      const run = runs[index];
      const link = findLink(run);
      const marks = run?.marks ?? [];
      if (run !== undefined && isCodeRun(run)) writeCode(page, text);
      else if (link?.url === '') writeUrl(page, text, getWordAfter(runs, index));
      else if (link !== undefined) writeMarkup(page, text, 'end');
      else writeText(page, { text, marks, behind: getFollowingText(runs, index) }, line);
    },
  });
}

/** Code and URLs are written as a whole. */
function isAtomicMark(mark: RunMark): boolean {
  return mark.type === 'code' || (mark.type === 'link' && mark.url === '');
}

/** Begins a mark, separated from the end of another mark with which it would merge. */
function openMark(page: DiscordPage, mark: RunMark): void {
  page.nodes += 1;
  if (mark.type === 'link') {
    writeMarkup(page, '[');
    return;
  }
  const sign = SIGNS[mark.type];
  const before = page.text.at(-1);
  // Strikethrough ends only if no underscore follows.
  const touches = before === sign[0] || (before === '~' && sign === '__');
  const { startsLine } = page;
  writeMarkup(page, page.after === 'end' && touches ? ZERO_WIDTH_SPACE + sign : sign, 'start');
  page.startsLine = startsLine;
}

/**
 * Backslashes do not work for bars and tildes, so a zero-width space separates the mark from the
 * same character in the text.
 */
function closeMark(page: DiscordPage, mark: RunMark): void {
  if (mark.type === 'link') {
    writeMarkup(page, `](${mark.url})`);
    page.endsLink = !mark.url.includes('[');
    return;
  }
  const sign = SIGNS[mark.type];
  const touches = page.after !== 'end' && page.text.at(-1) === sign[0] && /[~|]/.test(sign);
  writeMarkup(page, touches ? ZERO_WIDTH_SPACE + sign : sign, 'end');
}

/** Whether this character would merge with the mark or code directly before it. */
function wouldMergeWithSign({ text, after }: DiscordPage, sign: string): boolean {
  const before = text.at(-1);
  return after !== undefined && (before === sign || (before === '~' && sign === '_'));
}

/**
 * Uses the same number of backticks on both sides: one or two, because Discord starts a block with
 * three.
 */
function writeCode(page: DiscordPage, code: string): void {
  const text = code.replaceAll('\n', ' ');
  const hasTick = /(?<!`)`(?!`)/.test(text);
  const tick = hasTick ? '``' : '`';
  const inner = hasTick ? text.replaceAll(/(?<!`)``(?!`)/g, `\`${ZERO_WIDTH_SPACE}\``) : text;
  const start = /^ *`/.test(inner) ? ' ' : '';
  const end = /` *$/.test(inner) ? ' ' : '';
  writeRaw(page, tick + start + inner + end + tick);
}

/**
 * The URL is written bare if Discord finds exactly this URL; otherwise in angle brackets, which
 * disable the preview.
 */
function writeUrl(page: DiscordPage, url: string, following: string): void {
  // A backslash before the character would become part of the URL.
  const isBare = !following.includes('<') && isFoundInText(url, url + following);
  writeRaw(page, isBare ? url : `<${url}>`);
}

/** The text after a run, if no mark ends between them; an asterisk represents any other content. */
function getFollowingText(runs: readonly TextRun[], index: number): string {
  const marks = runs[index]?.marks.filter(({ type }) => type !== 'link') ?? [];
  const next = runs[index + 1];
  if (next === undefined || findCommonMarks(marks, next.marks).length < marks.length) return '';
  const isText = !isCodeRun(next) && next.marks.length === marks.length;
  return isText ? next.text : '*';
}

/** The text after a run, up to the next whitespace. */
function getWordAfter(runs: readonly TextRun[], index: number): string {
  const text = getFollowingText(runs, index);
  const space = text.search(/\s/);
  return space < 0 && text !== ''
    ? `${text}${getFollowingText(runs, index + 1)}`
    : text.slice(0, space);
}

/** Literal text, with its marks and the text after it up to the end of a mark. */
interface LiteralRun {
  readonly text: string;
  readonly marks: readonly RunMark[];
  readonly behind: string;
}

function writeText(page: DiscordPage, { text, marks, behind }: LiteralRun, line: LineStart): void {
  const lines = text.split('\n');
  for (const [index, own] of lines.entries()) {
    const isEnd = index === lines.length - 1;
    if (index > 0) startNewLine(page, line);
    const shown = page.joins ? own.trimStart() : own;
    writeLiteralText(page, {
      text: isEnd && behind !== '' ? shown : shown.trimEnd(),
      marks,
      behind: isEnd ? behind : '',
    });
  }
  page.nodes += text.match(PART_OF_EMOJI)?.length ?? 0;
}

/**
 * Every emoji contains at least one of these characters, and joined ones several, so Discord never
 * counts more.
 */
const PART_OF_EMOJI = /\p{Emoji_Presentation}|\ufe0f/gu;

/**
 * The beginning of a block at the start of a line; a heading's text may also be on the next line.
 */
const BLOCK = /^[ \t]*(?=#{1,6}(?:\s|$)|-#[ \t]|[*-][ \t]|>[ \t]|>>>[ \t])|^[ \t]*\d+(?=\.[ \t])/;
/**
 * Whether Discord's plain text ends before this character: at special characters, emoji, `word:x`
 * and `1.`.
 */
const ENDS_TEXT = /^(?:(?![0-9A-Za-z\s])[\0-\u{bf}]|\p{RGI_Emoji}|\w+:\S|\d+\.)/v;

/** Discord replaces mentions, commands and times between `<` and `>`. */
const MENTION =
  /<(?:[@#][!&]?\d{1,25}|\/[^<>\n:]{1,110}:\d{1,25}|t:-?\d{1,17}(?::\w)?|(?:id|sound):[\w:-]{1,60})>/y;
/** Discord's servers send notifications for these mentions despite a backslash. */
const PING = /<@(?=[!&]?\d+>)/g;

/** Writes one line of text so that it is shown literally. */
export function writeLiteralText(page: DiscordPage, literal: LiteralRun): void {
  if (literal.text === '') return;
  const { startsLine, joins } = page;
  const text = page.live ? literal.text : literal.text.replaceAll(PING, `<@${ZERO_WIDTH_SPACE}`);
  const place: SignLocation = {
    // The text after the last character, unless it is whitespace.
    text: text + (literal.marks.length > 0 ? '*' : literal.behind.slice(0, 1)),
    inItalic: literal.marks.some(({ type }) => type === 'italic'),
  };
  const escaped = text.replaceAll(/[\\*_~|`<[:(]/g, (sign, at: number) =>
    isMarkupSign(page, sign, at, place) ? `\\${sign}` : sign,
  );
  page.joins &&= ENDS_TEXT.test(text + literal.behind);
  writeMarkup(page, startsLine && !joins ? escaped.replace(BLOCK, '$&\\') : escaped);
  page.startsLine = startsLine && text.trim() === '';
}

/**
 * A name between colons becomes an emoji if Discord has one of that name, which cannot be checked
 * here.
 */
const SHORTCODE = /:(?:[a-z0-9_+-]{0,40}[a-zñ][a-z0-9_+ñ-]{0,60}|[+-]1|100|1234):/y;
/**
 * The colon of an address stays unescaped: Discord links the address as it is and ignores
 * backslashes in it.
 */
const SCHEME = /(?<=https?|steam):\/\/\S/y;

interface SignLocation {
  readonly text: string;
  readonly inItalic: boolean;
}

/** Whether Discord may interpret the character at this position as markup. */
function isMarkupSign(page: DiscordPage, sign: string, at: number, place: SignLocation): boolean {
  const { text, inItalic } = place;
  const before = text[at - 1] ?? '';
  const after = text[at + 1] ?? '';
  const touches = at === 0 && wouldMergeWithSign(page, sign);
  switch (sign) {
    case '\\':
      return after !== '' && /[^0-9A-Za-z\s]/.test(after);
    case '*':
      return after.trim() !== '' || inItalic || touches;
    case '~':
    case '|':
      return before === sign || after === sign;
    case '<':
      return after.trim() !== '' && !(page.live && matchesAt(MENTION, text, at));
    case '(':
      return before === ']';
    case ':':
      return matchesAt(SHORTCODE, text, at) || matchesAt(SCHEME, text, at);
    case '_':
    case '[':
      return page.escaped.has(sign) || touches;
    default:
      return true;
  }
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
