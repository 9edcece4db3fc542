import type { Page } from './discord-page.ts';

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
