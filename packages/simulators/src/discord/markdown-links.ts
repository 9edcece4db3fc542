import {
  type DiscordNode,
  isSpace,
  type LiveTextKind,
  type MarkdownRule,
  type ParseText,
  type ReadState,
} from './markdown.ts';

const BARE = /(?:https?|steam):\/\/[^\s<]+[^<.,:;"'\]\s]/y;
const ANGLE = /<([^: >]+:\/[^ >]+)>/y;
const MAIL = /<([^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)>/y;
const CALL = /<((?:(?:tel|sms):\+?|\+)(?:\d|\(\d+\))(?:[- ./]?(?:\d|\(\d+\)))+)>/y;

/** Matches a URL in the text, up to white space, `<`, closing punctuation or an unpaired `)`. */
export const readBareLink: MarkdownRule = (source, at, { inline }) => {
  if (!inline) return undefined;
  BARE.lastIndex = at;
  const found = BARE.exec(source)?.[0];
  if (found === undefined) return undefined;
  const url = stripUnpairedParentheses(found);
  return { end: at + url.length, nodes: [toLinkOrText(url, 'bare')] };
};

/** Removes trailing `)` that have no matching `(`. */
function stripUnpairedParentheses(url: string): string {
  let from = 0;
  for (let at = url.length - 1; url[at] === ')'; at -= 1) {
    const opening = url.indexOf('(', from);
    if (opening < 0) return url.slice(0, -1);
    from = opening + 1;
  }
  return url;
}

/** Matches `<https://…>`, which is shown without its brackets and without a preview. */
export const readAngleLink: MarkdownRule = (source, at, { inline }) => {
  if (!inline || source[at] !== '<') return undefined;
  ANGLE.lastIndex = at;
  const url = ANGLE.exec(source)?.[1];
  if (url !== undefined) return { end: at + url.length + 2, nodes: [toLinkOrText(url, 'angle')] };
  for (const [pattern, scheme] of [
    [MAIL, 'mailto:'],
    [CALL, 'tel:'],
  ] as const) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[1];
    if (text === undefined) continue;
    const target = /^(?:mailto|tel|sms):/.test(text) ? text : scheme + text;
    const children = [{ type: 'text', text } as const];
    return {
      end: at + text.length + 2,
      nodes: [{ type: 'link', url: target, form: 'angle', children }],
    };
  }
  return undefined;
};

function toLinkOrText(url: string, form: 'bare' | 'angle'): DiscordNode {
  const text = { type: 'text', text: url } as const;
  return toReadableUrl(url) === undefined ? text : { type: 'link', url, form, children: [text] };
}

/** Matches `[text](url)`, `[text](<url>)` and `[text](url "title")`. */
export const readMaskedLink: MarkdownRule = (source, at, state, read) => {
  if (!state.inline || source[at] !== '[') return undefined;
  for (const textEnd of findLinkTextEnds(source, at + 1).reverse()) {
    const target = matchLinkTarget(source, textEnd + 2);
    if (target === undefined) continue;
    const text = source.slice(at + 1, textEnd);
    const node = createMaskedLink(text, target.url, state, read);
    const refused = { type: 'refusedLink', text: source.slice(at, target.end) } as const;
    return { end: target.end, nodes: [node ?? refused] };
  }
  return undefined;
};

/**
 * Yields every position where the text of a link may end: before `](`, outside balanced brackets.
 */
function findLinkTextEnds(source: string, from: number): number[] {
  const ends: number[] = [];
  let at = from;
  while (at < source.length) {
    if (source[at] === '[') {
      const close = source.indexOf(']', at);
      if (close < 0) break;
      at = close + 1;
      continue;
    }
    if (source[at] === ']') {
      if (source[at + 1] === '(') ends.push(at);
      const close = source.indexOf(']', at + 1);
      const open = source.indexOf('[', at + 1);
      if (close < 0 || (open >= 0 && open < close)) break;
    }
    at += 1;
  }
  return ends;
}

const CLOSING = />?(?:\s+['"][\s\S]*?['"])?\s*\)/y;

/** Finds the shortest URL that is followed by an optional title and a `)`. */
function matchLinkTarget(source: string, at: number): { url: string; end: number } | undefined {
  let from = at;
  while (isSpace(source[from])) from += 1;
  if (source[from] === '<') from += 1;
  const closing = (to: number) => {
    CLOSING.lastIndex = to;
    return CLOSING.test(source)
      ? { url: source.slice(from, to), end: CLOSING.lastIndex }
      : undefined;
  };
  const search = (start: number): { url: string; end: number } | undefined => {
    let to = start;
    while (to < source.length) {
      const found = closing(to);
      if (found !== undefined) return found;
      if (isSpace(source[to])) return undefined;
      if (source[to] === '\\') {
        to += 2;
        continue;
      }
      const paired = source[to] === '(' ? source.indexOf(')', to) : -1;
      const inPair = paired < 0 ? undefined : search(paired + 1);
      if (inPair !== undefined) return inPair;
      to += 1;
    }
    return undefined;
  };
  return search(from);
}

/** Characters that the client strips from the text of a link before parsing. */
const STRIPPED =
  /\p{Cf}|\p{Zl}|\p{Zp}|[^\P{Cc}\n]|[^\P{Zs} ]|[\u034f\u17b4\u17b5\u1160\u3164\uffa0]/gu;
/** Invites and similar links, which the client recognizes without `https://`. */
const CODED = /discord(?:app)?\.(?:com|gg|gift|new|me|store)\/\S/i;

function createMaskedLink(
  written: string,
  target: string,
  state: ReadState,
  read: ParseText,
): DiscordNode | undefined {
  const url = toReadableUrl(target.replaceAll(/\\([^0-9A-Za-z\s])/g, '$1'));
  const text = written.replaceAll(STRIPPED, '');
  if (url === undefined || toReadableUrl(target) === undefined) return undefined;
  if (text.trim() === '' || CODED.test(text)) return undefined;
  const inner = { ...state, escapes: false };
  if (!read(text, inner).every(isAllowedInLink)) return undefined;
  const children = read(text, { ...inner, before: '', onlyMarks: true });
  return { type: 'link', url, form: 'masked', children };
}

const WRAPPERS: readonly string[] = [
  'bold',
  'italic',
  'underline',
  'strike',
  'spoiler',
  'heading',
  'quote',
  'subtext',
];

/**
 * Links, mentions, emoji and fences are not allowed in the text of a link; lists pass unchecked.
 */
function isAllowedInLink(node: DiscordNode): boolean {
  if (node.type === 'text' || node.type === 'list') return true;
  if (node.type === 'live') return node.kind === 'time';
  // The client also inspects inline code and rejects links and mentions in it.
  if (node.type === 'code') return !/[@#]|https?:|<|\]\(/.test(node.text);
  if (!WRAPPERS.includes(node.type) || !('children' in node)) return false;
  return node.children.every(isAllowedInLink);
}

const SCHEMES = ['http:', 'https:', 'discord:', 'tel:', 'sms:', 'mailto:'];

/**
 * Returns the URL that the client opens, or undefined when the client does not make it a link:
 * hidden characters, no host, an unusual spelling of the host, or an unsupported scheme.
 */
function toReadableUrl(url: string): string | undefined {
  if (/[\p{Cf}\p{Z}\p{Cc}]/u.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (!SCHEMES.includes(protocol)) return undefined;
  if (protocol !== 'http:' && protocol !== 'https:') return url;
  const [, empty, host = ''] = url.split('/');
  return empty === '' && hostname !== '' && !host.includes('%') ? url : undefined;
}

/** Custom emoji are parsed before marks and quotes. */
const FIRST: readonly (readonly [LiveTextKind, RegExp])[] = [['emoji', /<a?:\w+:\d+>/y]];

const COMMAND_NAME = String.raw`[-_\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}`;

/** The following rules apply after marks and links. */
const LAST: readonly (readonly [LiveTextKind, RegExp])[] = [
  ['time', /<t:-?\d{1,17}(?::[tTdDfFRsS])?>/y],
  ['user', /<@!?\d+>/y],
  ['role', /<@&\d+>/y],
  ['channel', /<#\d+>/y],
  ['everyone', /@everyone/y],
  ['here', /@here/y],
  ['command', new RegExp(`</${COMMAND_NAME}(?: ${COMMAND_NAME}){0,2}:\\d+>`, 'uy')],
  ['route', /<id:(?:home|guide|browse|customize|linked-roles)(?::\d+)?>/y],
  ['sound', /<sound:(?:\d+:)?\d+>/y],
  // The client replaces known emoji names in any text. Because the client's list of names changes,
  // every possible name counts: lower case with at least one letter, or one of a few numbers.
  ['shortcode', /:(?:[a-z0-9_+-]*[a-zñ][a-z0-9_+ñ-]*|[+-]1|100|1234)(?:::skin-tone-\d)?:/y],
];

/** `<:emoji:1>`. */
export const readCustomEmoji: MarkdownRule = (source, at) => matchFirstRule(FIRST, source, at);

/** Matches mentions, timestamps, commands and other text that the client replaces. */
export const readLive: MarkdownRule = (source, at, { before, onlyMarks }) => {
  if (onlyMarks) return matchFirstRule(LAST.slice(0, 1), source, at);
  if (before === '' && /^@silent(?!\S)/.test(source.slice(at, at + 8))) {
    return { end: at + 7, nodes: [{ type: 'live', kind: 'silent', text: '@silent' }] };
  }
  return matchFirstRule(LAST, source, at);
};

function matchFirstRule(
  rules: readonly (readonly [LiveTextKind, RegExp])[],
  source: string,
  at: number,
) {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) {
      return { end: at + text.length, nodes: [{ type: 'live', kind, text } as const] };
    }
  }
  return undefined;
}
