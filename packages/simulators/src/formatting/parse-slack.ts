import type { LineStart, ReadingMode } from './read-marks.ts';
import { type MarkedMessage, parseMarkedMessage } from './read-message.ts';
import { type FlattenedMessage, Flattener } from './tokens.ts';

/**
 * Parses Slack's mrkdwn strictly, as in a message's `text` field: only unambiguous marks count, and
 * ambiguous marks, notifications and invalid tokens are violations.
 *
 * Sources, read in November 2026: Slack's "Formatting message text" (the marks; the three entities;
 * tokens in angle brackets; `>` at the start of a line; lists are text) and its help article on
 * formatting; seratch/ChatGPT-in-Slack#61 (scripts without spaces do not form mark boundaries);
 * yhatt/jsx-slack, "About escape" (no escape characters; an entity `&gt;` begins a quote, too).
 * These sources do not specify where a mark begins and ends, so the text must be correct under
 * every interpretation (`Reading`).
 */
export function parseSlack(text: string): MarkedMessage {
  return parseMarkedMessage(flattenMessage(text), parseLineStart);
}

function parseLineStart(line: string, reading: ReadingMode): LineStart {
  const pattern = reading === 'strict' ? /^> (?=[^ \n])/ : /^\s*>\s?/;
  const length = pattern.exec(line)?.[0].length ?? 0;
  return { kind: length === 0 ? 'paragraph' : 'quote', length };
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
/**
 * Matches code, tokens, and the reserved characters that must not appear between them. A backtick
 * next to a word joiner is plain text.
 */
const PIECES =
  /```[\s\S]*?```|<[^<>\n]*>|(?<!\u2060)`(?=[^\s\u2060])[^`\n]*(?<=[^\s\u2060])`|&(?:amp|lt|gt);|[<>&]/g;
const LINK = /^<((?:https?:\/\/|mailto:)[^\s|`]+)(?:\|([^|]+))?>$/i;
/** Text that Slack's servers, or a library that sends the text, would convert to a mention. */
const NAME = /(?<!\w)@\w+/g;
const EMOJI = /:[\w'+-]*[a-z][\w'+-]*:|:(?:[+-]1|100|1234):/g;

function flattenMessage(text: string): FlattenedMessage {
  const flattener = new Flattener();
  let from = 0;
  const addText = (to: number) => {
    const between = text.slice(from, to);
    for (const pattern of [NAME, EMOJI]) {
      for (const [live] of between.matchAll(pattern)) flattener.report('alive', live);
    }
    flattener.add(between);
  };
  for (const { index, 0: piece } of text.matchAll(PIECES)) {
    addText(index);
    from = index + piece.length;
    const isQuoteMark = piece === '>' && /(?:^|\n)$/.test(text.slice(0, index));
    if (isQuoteMark) flattener.add(piece);
    else if (piece.startsWith('`')) addCode(piece, flattener);
    else addPiece(piece, flattener);
  }
  addText(text.length);
  return flattener.end();
}

/** Slack also recognizes tokens inside code. */
function addCode(code: string, flattener: Flattener): void {
  for (const [token] of code.matchAll(/<[^<>\n]*>|[<>]|&(?!(?:amp|lt|gt);)/g)) {
    flattener.report('token', token);
  }
  flattener.add(decodeEntities(code));
}

function addPiece(piece: string, flattener: Flattener): void {
  const entity = ENTITIES[piece];
  const [, url, label] = LINK.exec(piece) ?? [];
  if (entity !== undefined) flattener.add(entity);
  else if (url !== undefined)
    flattener.addLink(decodeEntities(url), label && decodeEntities(label));
  else {
    flattener.report(/^<[@#!]/.test(piece) ? 'alive' : 'token', piece);
    flattener.add(piece);
  }
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}
