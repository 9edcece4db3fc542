/** Stands where two signs must not touch and where a name must not be one: seen by nobody. */
export const ZERO_WIDTH_SPACE = '\u200b';

/**
 * A message being written. What is certain is in `text` already; signs of literal text that become
 * markup only through what follows them are remembered in `signs`, and escaped at the end.
 */
export interface Page {
  text: string;
  /** Places of such signs in `text`, ascending. */
  readonly signs: number[];
  /** Those among them that need a backslash whatever follows. */
  readonly certain: Set<number>;
  /** Up to here some code or address contains `](`, which could end a link that begins before it. */
  linkEnd: number;
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
  /** Whether it is the beginning of a mark. */
  opened: boolean;
  /** What looks like a mention stays one. */
  readonly live: boolean;
}

/** An empty message. */
export function newPage(live: boolean): Page {
  return {
    text: '',
    signs: [],
    certain: new Set(),
    linkEnd: -1,
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
  const end = safe.lastIndexOf('](');
  if (end >= 0) page.linkEnd = page.text.length - safe.length + end;
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

/** What is known of the text behind a place, gathered from its end. */
interface Behind {
  star: boolean;
  tick: boolean;
  tildes: boolean;
  bars: boolean;
  underlines: boolean;
  /** Whether an underscore before this place would find one that ends its mark. */
  closing: boolean;
  /** The same, looked at from behind the underscores that stand here. */
  beyond: boolean;
  /** The underscores that stand here: where the first is, and how many are known to follow each other. */
  lineAt: number;
  lines: number;
  parenthesis: boolean;
  /** The next `>` and the next `:` before white space. */
  angle: number;
  colon: number;
}

/**
 * The finished message: a backslash before each remembered sign that would become markup, and before
 * no other. Reads once from the end, because what a sign does depends on what follows.
 */
export function escapeSigns({ text, signs, certain, linkEnd, live }: Page): string {
  if (signs.length === 0) return text;
  const escaped: number[] = [];
  const behind: Behind = {
    star: false,
    tick: false,
    tildes: false,
    bars: false,
    underlines: false,
    closing: false,
    beyond: false,
    lineAt: -1,
    lines: 0,
    parenthesis: false,
    angle: -1,
    colon: -1,
  };
  const bracket = text.indexOf('[');
  let next = signs.length - 1;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const isLiteral = signs[next] === at;
    if (isLiteral) next -= 1;
    const opensLink = text[at] === '[' ? at < linkEnd : bracket >= 0 && bracket < at;
    const needed =
      isLiteral && (certain.has(at) || isMarkup(text, at, behind, { opensLink, live }));
    if (needed) escaped.push(at);
    note(text, at, behind, needed);
  }
  return withBackslashes(text, escaped);
}

function withBackslashes(text: string, places: readonly number[]): string {
  let out = '';
  let from = 0;
  for (const at of places.toReversed()) {
    out += `${text.slice(from, at)}\\`;
    from = at;
  }
  return out + text.slice(from);
}

function isMarkup(
  text: string,
  at: number,
  behind: Behind,
  { opensLink, live }: { opensLink: boolean; live: boolean },
): boolean {
  const before = text[at - 1] ?? '';
  const after = text[at + 1] ?? '';
  switch (text[at]) {
    case '\\':
      return after !== '' && /[^0-9A-Za-z\s]/.test(after);
    case '*':
      return behind.star && after.trim() !== '';
    case '_':
      return behind.closing || (after === '_' && behind.underlines);
    case '~':
      return (before === '~' || after === '~') && behind.tildes;
    case '|':
      return (before === '|' || after === '|') && behind.bars;
    case '`':
      return behind.tick;
    case '[':
      return opensLink;
    case '(':
      return opensLink && behind.parenthesis;
    case '<':
      return isAddress(text, at, behind) || (!live && matchesAt(MENTION, text, at));
    case ':':
      return matchesAt(SHORTCODE, text, at);
    default:
      return true;
  }
}

/** Remembers what stands at this place for the signs before it. */
function note(text: string, at: number, behind: Behind, escaped: boolean): void {
  const after = text[at + 1] ?? '';
  switch (text[at]) {
    case '*':
      behind.star = true;
      break;
    case '`':
      behind.tick = true;
      break;
    case '~':
      behind.tildes ||= after === '~';
      break;
    case '|':
      behind.bars ||= after === '|';
      break;
    case '_':
      if (!escaped) noteLine(text, at, behind);
      break;
    case ')':
      behind.parenthesis = true;
      break;
    case '>':
      behind.angle = at;
      behind.colon = -1;
      break;
    case ':':
      behind.colon = at;
      break;
    case ' ':
      behind.angle = -1;
      break;
  }
}

/**
 * Underscores are taken in pairs by a mark that began before them; one that is left over ends the
 * mark at the end of a word and prevents it elsewhere.
 */
function noteLine(text: string, at: number, behind: Behind): void {
  const goesOn = behind.lineAt === at + 1;
  behind.lineAt = at;
  behind.lines = goesOn ? behind.lines + 1 : 1;
  behind.underlines ||= goesOn;
  if (!goesOn) behind.beyond = behind.closing;
  const isWord = /[0-9A-Za-z]/.test(text[at + behind.lines] ?? '');
  const isEven = behind.lines % 2 === 0;
  // A backslash in code takes the first one away.
  behind.closing = text[at - 1] === '\\' || (isEven ? behind.beyond : !isWord);
}

/** Mentions, custom emoji, commands, times: what Discord fills in between `<` and `>`. */
const MENTION =
  /<(?:a?:\w{1,40}:\d{1,25}|[@#][!&]?\d{1,25}|\/[^<>\n:]{1,110}:\d{1,25}|t:-?\d{1,17}(?::\w)?|(?:id|sound):[\w:-]{1,60})>/y;
const MAIL_OR_CALL =
  /<(?:[^\s<>@]{1,90}@[^\s<>@]{1,200}|(?:(?:tel|sms):\+?|\+)[\d(][\d() ./-]{0,40})>/y;
/** A name between colons becomes an emoji if Discord knows it; only Discord knows which it knows. */
const SHORTCODE = /:(?:[a-z0-9_+-]{0,40}[a-zñ][a-z0-9_+ñ-]{0,60}|[+-]1|100|1234):/y;

/** `<scheme:/…>` without white space, an e-mail address, a telephone number. */
function isAddress(text: string, at: number, { angle, colon }: Behind): boolean {
  const hasScheme = angle > colon + 2 && colon > at + 1 && text[colon + 1] === '/';
  return hasScheme || matchesAt(MAIL_OR_CALL, text, at);
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
