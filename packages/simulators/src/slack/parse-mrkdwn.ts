import { findEmoji, findEmojiName, KNOWN_EMOJI, resolveEmojiAlias } from './emoji.ts';
import type { Inline, RichText, TextStyle } from './rich-text.ts';

/** Parses mrkdwn, the format of the `text` field, as Slack's clients do. */
export function parseMrkdwn(source: string): RichText[] {
  const parts: RichText[] = [];
  let end = 0;
  for (const match of source.matchAll(/```([\s\S]+?)```/g)) {
    parts.push(...parseLines(trimLineEnds(source.slice(end, match.index), end > 0, true)));
    const code = (match[1] ?? '').replace(/^\n/, '').replace(/\n$/, '');
    parts.push({ type: 'rich_text_preformatted', elements: parseVerbatim(code) });
    end = match.index + match[0].length;
  }
  parts.push(...parseLines(trimLineEnds(source.slice(end), end > 0, false)));
  return parts;
}

/** A code block starts and ends its own line, so adjacent line ends are not visible. */
function trimLineEnds(text: string, isAfterCode: boolean, isBeforeCode: boolean): string {
  const rest = isAfterCode ? text.replace(/^\n/, '') : text;
  return isBeforeCode ? rest.replace(/\n$/, '') : rest;
}

/** Parses mentions and emoji in standard Markdown text, which has no mrkdwn escapes. */
export function parseMentions(source: string, style: TextStyle): Inline[] {
  const found: Inline[] = [];
  let end = 0;
  for (const match of source.matchAll(/<([@#!][^<>\s]+)>|:([a-z0-9_+'-]+):/g)) {
    const [whole, reference, name = ''] = match;
    const element =
      reference === undefined
        ? toEmojiElement(name, style)
        : parseReference(reference, toStyleOrNone(style));
    if (element === undefined) continue;
    if (match.index > end) found.push(...parseText(source.slice(end, match.index), style));
    found.push(element);
    end = match.index + whole.length;
  }
  return [...found, ...parseText(source.slice(end), style)];
}

function toEmojiElement(name: string, style: TextStyle): Inline | undefined {
  if (findEmoji(name) === undefined) return undefined;
  return { type: 'emoji', name: resolveEmojiAlias(name), ...toStyleField(style) };
}

const QUOTE = /^(?:&gt;|>) ?/;
const QUOTE_REST = /^(?:(?:&gt;){3}|>{3}) ?/;

/** Splits lines into quotes and sections. */
function parseLines(source: string): RichText[] {
  if (source === '') return [];
  const parts: { isQuote: boolean; lines: string[] }[] = [];
  let isRestQuoted = false;
  for (const line of source.split('\n')) {
    const startsRest = QUOTE_REST.test(line);
    isRestQuoted ||= startsRest;
    const isQuote = isRestQuoted || QUOTE.test(line);
    const text = startsRest ? line.replace(QUOTE_REST, '') : line.replace(QUOTE, '');
    const last = parts.at(-1);
    if (last?.isQuote === isQuote) last.lines.push(isQuote ? text : line);
    else parts.push({ isQuote, lines: [isQuote ? text : line] });
  }
  return parts.map(({ isQuote, lines }) => ({
    type: isQuote ? 'rich_text_quote' : 'rich_text_section',
    elements: parseInline(lines.join('\n'), {}),
  }));
}

/** Code is kept verbatim except for links and escapes. */
function parseVerbatim(source: string, style?: TextStyle): Inline[] {
  const found: Inline[] = [];
  let end = 0;
  const push = (text: string) => {
    if (text !== '')
      found.push({ type: 'text', text: unescapeMrkdwn(text), ...(style && { style }) });
  };
  for (const match of source.matchAll(/<[^<>\n]+>/g)) {
    const element = parseReference(match[0].slice(1, -1), style);
    if (element === undefined) continue;
    push(source.slice(end, match.index));
    found.push(element);
    end = match.index + match[0].length;
  }
  push(source.slice(end));
  return found;
}

interface ParsedPiece {
  readonly elements: readonly Inline[];
  readonly end: number;
}

const STYLES = { '*': 'bold', _: 'italic', '~': 'strike' } as const;

function parseInline(source: string, style: TextStyle): Inline[] {
  const found: Inline[] = [];
  let start = 0;
  let at = 0;
  const flush = () => {
    if (at > start) found.push(...parseText(unescapeMrkdwn(source.slice(start, at)), style));
  };
  while (at < source.length) {
    const piece = parsePiece(source, at, style);
    if (piece === undefined) {
      at += 1;
      continue;
    }
    flush();
    found.push(...piece.elements);
    at = piece.end;
    start = at;
  }
  flush();
  return found;
}

function parsePiece(source: string, at: number, style: TextStyle): ParsedPiece | undefined {
  const mark = source[at];
  switch (mark) {
    case '<': {
      const end = source.indexOf('>', at);
      const element =
        end < 0 ? undefined : parseReference(source.slice(at + 1, end), toStyleOrNone(style));
      return element && { elements: [element], end: end + 1 };
    }
    case ':': {
      const [whole, name = ''] = /^:([a-z0-9_+'-]+):/.exec(source.slice(at, at + 60)) ?? [];
      const emoji = whole === undefined ? undefined : toEmojiElement(name, style);
      return emoji && { elements: [emoji], end: at + (whole?.length ?? 0) };
    }
    case '`': {
      const end = findClosingMark(source, at, '`');
      if (end === undefined) return undefined;
      return {
        elements: parseVerbatim(source.slice(at + 1, end), { ...style, code: true }),
        end: end + 1,
      };
    }
    case '*':
    case '_':
    case '~': {
      const end = findClosingMark(source, at, mark);
      if (end === undefined) return undefined;
      const inner = parseInline(source.slice(at + 1, end), { ...style, [STYLES[mark]]: true });
      return { elements: inner, end: end + 1 };
    }
    default:
      return undefined;
  }
}

/**
 * Finds the marker that closes the mark at `at`. Markers must be at word boundaries on the same
 * line, and formatted text does not start or end with a space.
 */
function findClosingMark(source: string, at: number, mark: string): number | undefined {
  if (/[\p{L}\p{N}]/u.test(source[at - 1] ?? '') || source[at - 1] === mark) return undefined;
  if (!/[^\s]/.test(source[at + 1] ?? '') || source[at + 1] === mark) return undefined;
  for (let end = at + 2; end < source.length && source[end] !== '\n'; end += 1) {
    if (source[end] !== mark || /\s/.test(source[end - 1] ?? '')) continue;
    if (!/[\p{L}\p{N}]/u.test(source[end + 1] ?? '') && source[end + 1] !== mark) return end;
  }
  return undefined;
}

/** Parses the content of angle brackets: a mention or a link. */
function parseReference(source: string, style: TextStyle | undefined): Inline | undefined {
  const [target = '', label] = source.split(/\|(.*)/s);
  const more = style && { style };
  if (/^@[UWB]\w+$/.test(target)) return { type: 'user', user_id: target.slice(1), ...more };
  if (/^#[CG]\w+$/.test(target)) return { type: 'channel', channel_id: target.slice(1), ...more };
  const group = /^!subteam\^(\w+)$/.exec(target)?.[1];
  if (group !== undefined) return { type: 'usergroup', usergroup_id: group, ...more };
  if (/^!(?:here|channel|everyone)$/.test(target))
    return { type: 'broadcast', range: target.slice(1), ...more };
  if (!/^(?:[a-z][\w+.-]*:|mailto:|tel:)\S+$/i.test(target)) return undefined;
  const text = label && { text: unescapeMrkdwn(label) };
  return { type: 'link', url: unescapeMrkdwn(target), ...text, ...more };
}

/** Converts plain text; known emoji become separate elements, as in Slack. */
function parseText(text: string, style: TextStyle): Inline[] {
  const found: Inline[] = [];
  let rest = text;
  for (let match = KNOWN_EMOJI.exec(rest); match !== null; match = KNOWN_EMOJI.exec(rest)) {
    if (match.index > 0)
      found.push({ type: 'text', text: rest.slice(0, match.index), ...toStyleField(style) });
    found.push({
      type: 'emoji',
      name: findEmojiName(match[0]) ?? match[0],
      ...toStyleField(style),
    });
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest !== '') found.push({ type: 'text', text: rest, ...toStyleField(style) });
  return found;
}

function toStyleOrNone(style: TextStyle): TextStyle | undefined {
  return Object.keys(style).length === 0 ? undefined : style;
}

function toStyleField(style: TextStyle): { readonly style?: TextStyle } {
  return Object.keys(style).length === 0 ? {} : { style };
}

function unescapeMrkdwn(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
