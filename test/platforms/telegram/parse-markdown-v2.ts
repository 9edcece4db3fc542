import { type HtmlEntity, settleEntities } from './html-entity.ts';
import { linkEntity } from './link-entity.ts';
import { customEmojiId, readAddress } from './markdown-v2-address.ts';
import {
  isEscape,
  type Kind,
  type OpenFormat,
  type ReadState,
  refuse,
  refuseOpen,
  refuseReserved,
} from './markdown-v2-state.ts';

export { TelegramMarkdownError } from './markdown-v2-state.ts';

const RESERVED = new Set('_*[]()~`>#+-=|{}.!\n');
const END: Readonly<Record<Exclude<Kind, 'BlockQuote'>, string>> = {
  Bold: '*',
  Italic: '_',
  Underline: '__',
  Strikethrough: '~',
  Spoiler: '||',
  Code: '`',
  Pre: '```',
  PreCode: '```',
  TextUrl: ']',
  CustomEmoji: ']',
};
/** Two underscores are always an underline, read from left to right. */
const BEGIN: readonly (readonly [mark: string, kind: Kind])[] = [
  ['__', 'Underline'],
  ['_', 'Italic'],
  ['*', 'Bold'],
  ['~', 'Strikethrough'],
  ['||', 'Spoiler'],
  ['`', 'Code'],
  ['![', 'CustomEmoji'],
  ['[', 'TextUrl'],
];
const ENTITY_TYPE = {
  Bold: 'bold',
  Italic: 'italic',
  Underline: 'underline',
  Strikethrough: 'strikethrough',
  Spoiler: 'spoiler',
  Code: 'code',
  Pre: 'pre',
  PreCode: 'pre',
} as const;

/**
 * Reads `parse_mode: 'MarkdownV2'` as the Telegram servers do: eighteen reserved characters, formats
 * that nest but never cross, quotes line by line, the same refusals with byte offsets. As lenient as
 * they are: a code in bold, a link in a link and a quote in a quote are read, and one format is lost.
 * @throws TelegramMarkdownError with the server's wording.
 */
export function parseTelegramMarkdownV2(source: string): { text: string; entities: HtmlEntity[] } {
  const state: ReadState = {
    source,
    at: 0,
    text: '',
    open: [],
    found: [],
    inQuote: false,
    atLineStart: true,
  };
  while (state.at < source.length) readNext(state);
  if (state.inQuote) endQuoteAtEnd(state);
  const unclosed = state.open.at(-1);
  if (unclosed !== undefined) refuseOpen(state, unclosed);
  return { text: state.text, entities: settleEntities(state.found) };
}

function readNext(state: ReadState): void {
  const { source, at, open } = state;
  const next = source[at] ?? '';
  const inside = open.at(-1);
  const verbatim = inside?.kind.startsWith('Pre') || inside?.kind === 'Code';
  if (isEscape(source, at)) show(state, source[at + 1] ?? '', 2);
  else if (verbatim ? next !== '`' : !RESERVED.has(next)) show(state, next, 1);
  else if (state.inQuote && next === '\n' && source[at + 1] !== '>') endQuote(state);
  else if (inside !== undefined && endsHere(inside.kind, source, at)) end(state, inside);
  else begin(state, next);
}

/** Text that people see. A carriage return leaves a line as empty as it was. */
function show(state: ReadState, character: string, width: number): void {
  state.text += character;
  state.at += width;
  if (character !== '\r') state.atLineStart = character === '\n';
}

function endsHere(kind: Kind, source: string, at: number): boolean {
  if (kind === 'BlockQuote') return false;
  if (kind === 'Italic' && source.startsWith('__', at)) return false;
  return source.startsWith(END[kind], at);
}

function begin(state: ReadState, next: string): void {
  if (next === '\n') show(state, next, 1);
  else if (next === '>') beginQuote(state);
  else if (state.source.startsWith('```', state.at)) beginPre(state);
  else {
    const found = BEGIN.find(([mark]) => state.source.startsWith(mark, state.at));
    if (found === undefined) refuseReserved(next);
    push(state, found[1], found[0].length);
  }
}

function push(state: ReadState, kind: Kind, width: number, language?: string): void {
  const format = { kind, offset: state.text.length, at: state.at };
  state.open.push(language === undefined ? format : { ...format, language });
  state.at += width;
}

function beginQuote(state: ReadState): void {
  if (!state.atLineStart) refuseReserved('>');
  if (state.inQuote) {
    state.at += 1;
    return;
  }
  state.inQuote = true;
  push(state, 'BlockQuote', 1);
}

/** The language runs to the first white space; one line end before the code is not part of it. */
function beginPre(state: ReadState): void {
  const { source, at } = state;
  const from = at + 3;
  let stop = from;
  while (stop < source.length && !/[\s`]/.test(source[stop] ?? '')) stop += 1;
  const named = stop > from && stop < source.length && source[stop] !== '`';
  let content = named ? stop : from;
  if (/^(?:\r\n|\n\r)/.test(source.slice(content, content + 2))) content += 2;
  else if (source[content] === '\n' || source[content] === '\r') content += 1;
  push(
    state,
    named ? 'PreCode' : 'Pre',
    content - at,
    named ? source.slice(from, stop) : undefined,
  );
}

function end(state: ReadState, format: OpenFormat): void {
  const { kind, offset, language } = format;
  const span = { offset, length: state.text.length - offset };
  switch (kind) {
    case 'TextUrl':
      endLink(state, span);
      break;
    case 'CustomEmoji':
      endEmoji(state, span);
      break;
    case 'BlockQuote':
      break;
    default:
      state.at += END[kind].length;
      add(state, { type: ENTITY_TYPE[kind], ...span, ...(language && { language }) });
  }
  state.open.pop();
}

function endLink(state: ReadState, span: { offset: number; length: number }): void {
  const shown = { address: state.text.slice(span.offset), end: state.at + 1 };
  const link =
    state.source[state.at + 1] === '(' ? readAddress(state.source, state.at + 2, 'URL') : shown;
  state.at = link.end;
  const entity = linkEntity(link.address, span);
  if (entity !== undefined) add(state, entity);
}

function endEmoji(state: ReadState, span: { offset: number; length: number }): void {
  if (state.source[state.at + 1] !== '(') {
    refuse('Custom emoji entity must contain a tg://emoji URL');
  }
  const { address, end } = readAddress(state.source, state.at + 2, 'custom emoji URL');
  state.at = end;
  add(state, { type: 'custom_emoji', ...span, custom_emoji_id: customEmojiId(address) });
}

/** Ends a quote with the line end that belongs to it. `||` just before makes it expandable. */
function endQuote(state: ReadState): void {
  const type = quoteType(state, state.at);
  show(state, '\n', 1);
  finishQuote(state, type);
}

function endQuoteAtEnd(state: ReadState): void {
  finishQuote(state, quoteType(state, state.source.length));
}

function quoteType(state: ReadState, at: number): 'blockquote' | 'expandable_blockquote' {
  const last = state.open.at(-1);
  const endOfLine = state.source[at - 1] === '\r' && at < state.source.length ? at - 1 : at;
  if (last?.kind !== 'Spoiler' || last.at !== endOfLine - 2) return 'blockquote';
  state.open.pop();
  return 'expandable_blockquote';
}

function finishQuote(state: ReadState, type: HtmlEntity['type']): void {
  const quote = state.open.pop();
  if (quote === undefined) return;
  if (quote.kind !== 'BlockQuote') refuseOpen(state, quote);
  state.inQuote = false;
  add(state, { type, offset: quote.offset, length: state.text.length - quote.offset });
}

/** A format round nothing is forgotten. */
function add(state: ReadState, entity: HtmlEntity): void {
  if (entity.length > 0) state.found.push(entity);
}
