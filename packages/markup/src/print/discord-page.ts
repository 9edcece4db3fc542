import { type Leaf, textsOf } from '../document.ts';
import { linkOf } from '../transform/runs.ts';

/** Stands where two signs must not touch and where a name must not be one: seen by nobody. */
export const ZERO_WIDTH_SPACE = '\u200b';

export interface Page {
  text: string;
  /** Signs of literal text that need a backslash because of what stands elsewhere in the message. */
  readonly escaped: ReadonlySet<string>;
  /** Where the text of the last link ends. */
  linkText: number;
  /** What Discord counts as nodes: marks, links, code, lists, emoji. */
  nodes: number;
  /** Where the content of this line begins, if it is not its first line. */
  lineAt: number;
  /** Whether the next text stands where a heading, list or quote may begin. */
  startsLine: boolean;
  /** Whether the next text follows a line end in a list item, which Discord drops before a sign. */
  joins: boolean;
  /** Whether the last thing written is the end of a mark or of code. */
  closed: boolean;
  opened: boolean;
  /** What looks like a mention stays one. */
  readonly live: boolean;
}

export function newPage(leaves: readonly Leaf[], live: boolean): Page {
  const texts = leaves.flatMap((leaf) => [
    ...textsOf(leaf),
    ...(leaf.kind === 'text' ? leaf.runs.map((run) => linkOf(run)?.url ?? '') : []),
  ]);
  const escaped = new Set<string>();
  // An underscore ends italic text only where no letter or digit follows.
  if (texts.some((text) => /_(?![0-9A-Za-z])/.test(text))) escaped.add('_');
  // Code and addresses may contain the end of a link.
  if (texts.some((text) => text.includes(']('))) escaped.add('[');
  return {
    text: '',
    escaped,
    linkText: -1,
    nodes: 0,
    lineAt: -1,
    startsLine: true,
    joins: false,
    closed: false,
    opened: false,
    live,
  };
}

/**
 * Writes markup or text in which nothing is escaped.
 * @param whole the text with what follows it, if it is a part of one.
 */
export function put(page: Page, text: string, whole = text): void {
  if (page.joins && isSign(whole)) page.text += ZERO_WIDTH_SPACE;
  page.text += text;
  page.joins = false;
  page.closed = false;
  page.opened = false;
  page.startsLine = false;
}

/** Writes code or an address, whatever it contains. */
export function putRaw(page: Page, text: string): void {
  const safe = endsLink(page, text) ? text.replaceAll('](', `]${ZERO_WIDTH_SPACE}(`) : text;
  put(page, safe);
  page.closed = true;
}

/** Ends the text of a link and writes its address. */
export function putLinkEnd(page: Page, url: string): void {
  page.linkText = page.text.length;
  put(page, `](${url})`);
}

/** Whether Discord would rather end the link before at a `](` in this text: it looks for the last. */
export function endsLink({ text, linkText }: Page, raw: string): boolean {
  const end = raw.indexOf('](');
  if (end < 0 || linkText < 0 || text.includes('[', linkText)) return false;
  return !raw.slice(0, end).includes('[');
}

/** Begins a mark, apart from the end of another one that it would run together with. */
export function openMark(page: Page, sign: string): void {
  const before = page.text.at(-1);
  // Strike-through ends only where no underscore follows.
  const touches = before === sign[0] || (before === '~' && sign === '__');
  const { startsLine } = page;
  put(page, page.closed && touches ? ZERO_WIDTH_SPACE + sign : sign);
  page.startsLine = startsLine;
  page.opened = true;
  page.nodes += 1;
}

/** Ends a mark. Bars and tildes know no backslash, so theirs must not touch any. */
export function closeMark(page: Page, sign: string): void {
  const touches = !page.closed && page.text.at(-1) === sign[0] && (sign === '~~' || sign === '||');
  put(page, touches ? ZERO_WIDTH_SPACE + sign : sign);
  page.closed = true;
}

/** Whether this sign would run together with the sign of a mark or the code right before it. */
export function touchesSign(page: Page, sign: string): boolean {
  const before = page.text.at(-1);
  return (page.closed || page.opened) && (before === sign || (before === '~' && sign === '_'));
}

/**
 * A line end and what stands before the content of the next line. An empty line would end a list
 * item or its text for Discord, one with a space does not.
 */
export function newLine(page: Page, prefix: string, inItem: boolean): void {
  if (inItem && page.text.length === page.lineAt) page.text += ' ';
  page.text += `\n${prefix}`;
  page.lineAt = page.text.length;
  page.startsLine = true;
  page.joins = inItem;
  page.closed = false;
  page.opened = false;
}

/** Whether Discord's text ends before this: at signs, emoji, `word:x` and `1.`. */
function isSign(text: string): boolean {
  return /^(?:(?![0-9A-Za-z\s])[\0-\u{bf}]|\p{RGI_Emoji}|\w+:\S|\d+\.)/v.test(text);
}
