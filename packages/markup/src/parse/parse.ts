import { decodeLiteralText } from '@parley/core';
import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { Steps } from '../steps.ts';
import { parseQuickTree } from './fast-parser.ts';
import {
  ampersand,
  createMathsSyntax,
  createQuickAutolinkSyntax,
  emphasis,
  escapedBar,
  escapedBarTree,
  mathsTree,
  type SyntaxExtension,
} from './inline-syntax.ts';
import { insertLiteralText } from './literal-text.ts';
import { type SourcePiece, splitMarkdown } from './pieces.ts';
import { createQuoteSyntax } from './quotes.ts';

export type ParsedSegment =
  | {
      readonly type: 'tree';
      readonly root: Root;
      /** The text that the positions in `root` refer to. */
      readonly source: string;
      /** Nodes that start before this offset come from other pieces and are not shown. */
      readonly shownFrom: number;
      readonly endsBlank: boolean;
    }
  | (Exclude<SourcePiece, { type: 'markdown' }> & { readonly endsBlank: boolean });

/**
 * Parses any Markdown in bounded time, one step per piece; text that would stall the parser becomes
 * literal text.
 */
export function* parseMarkdown(markdown: string): Steps<ParsedSegment[]> {
  const source = prepareSource(markdown);
  if (source.trim() === '') return [];
  const pieces = yield* splitMarkdown(source);
  const lent = pieces.length > 1 ? collectDefinitions(pieces) : '';
  const parsed: ParsedSegment[] = [];
  for (const piece of pieces) {
    if (piece.type === 'markdown') yield;
    parsed.push(parsePiece(piece, lent));
  }
  return parsed;
}

/** Parses one piece of a source. */
function parsePiece(piece: SourcePiece, lent: string): ParsedSegment {
  const endsBlank = piece.text.endsWith('\n') || piece.type === 'code';
  if (piece.type !== 'markdown')
    return { ...piece, text: decodeLiteralText(piece.text), endsBlank };
  const root = tryParse(lent + piece.text);
  if (root === undefined)
    return { type: 'literal', text: decodeLiteralText(piece.text), endsBlank };
  insertLiteralText(root, piece.text);
  return { type: 'tree', root, source: lent + piece.text, shownFrom: lent.length, endsBlank };
}

/** The parser throws only when nesting that the guard did not anticipate overflows the stack. */
function tryParse(markdown: string): Root | undefined {
  try {
    return parseQuickTree(markdown) ?? parseSyntax(markdown);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const CODE = {
  dollar: 36,
  ampersand: 38,
  asterisk: 42,
  less: 60,
  bracket: 91,
  backslash: 92,
  underscore: 95,
  tilde: 126,
  macron: 175,
} as const;

const gfmFor = createQuickAutolinkSyntax(gfm({ singleTilde: false }));
const TREE = [
  // The tokenizer already finds bare URLs; the transform would search the whole tree again.
  ...gfmFromMarkdown().map(({ transforms: _again, ...extension }) => extension),
  mathsTree,
  escapedBarTree,
];

/**
 * Parses Markdown (GFM, with math) to mdast, with positions. It takes ten times as long as
 * `parseQuickTree` on simple Markdown. The time is quadratic or worse on hostile input, so callers
 * must guard it.
 */
export function parseSyntax(markdown: string): Root {
  const extensions = [gfmFor(markdown), createCustomSyntax(markdown), createQuoteSyntax(markdown)];
  return fromMarkdown(markdown, { extensions, mdastExtensions: TREE });
}

function createCustomSyntax(markdown: string): SyntaxExtension {
  const maths = createMathsSyntax(markdown);
  return {
    text: {
      [CODE.dollar]: maths,
      [CODE.ampersand]: ampersand,
      [CODE.asterisk]: [maths, emphasis],
      [CODE.less]: maths,
      [CODE.bracket]: maths,
      [CODE.backslash]: [maths, escapedBar],
      [CODE.underscore]: maths,
      [CODE.tilde]: maths,
      [CODE.macron]: maths,
    },
  };
}

/**
 * Prepares text for the parser: well-formed, line breaks as `\n`, U+FFFD for NUL as in CommonMark,
 * and no byte order mark. The parser would normalize the text as well, but next to a NUL it
 * duplicates mark characters, and its positions do not count the byte order mark.
 */
function prepareSource(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n');
}

/**
 * The maximum number of definitions that every piece gets; further ones are not resolved across
 * pieces.
 */
const MAX_DEFINITIONS = 200;
const MAX_LENGTH = 4_000;

/**
 * The link and footnote definitions of all pieces, so that a reference in one piece finds its
 * definition in another. A footnote contributes only its name, because its text is shown in its own
 * piece.
 * @returns Markdown to put before each piece; empty when the source has no definitions.
 */
export function collectDefinitions(pieces: readonly SourcePiece[]): string {
  const links: string[] = [];
  const footnotes: string[] = [];
  let length = 0;
  for (const line of listDefinitionLines(pieces)) {
    const lent = line[1] === '^' ? `${line.slice(0, line.indexOf(']'))}]: .` : line;
    length += lent.length + 1;
    if (links.length + footnotes.length >= MAX_DEFINITIONS || length > MAX_LENGTH) break;
    (line[1] === '^' ? footnotes : links).push(lent);
  }
  // The rule ends the last footnote, which would otherwise include an indented line after it.
  if (footnotes.length > 0) footnotes.push('', '***', '');
  return (
    [...footnotes, ...links].map((line) => `${line}\n`).join('') + (links.length > 0 ? '\n' : '')
  );
}

function* listDefinitionLines(pieces: readonly SourcePiece[]): Generator<string> {
  for (const piece of pieces) {
    if (piece.type !== 'markdown') continue;
    for (const line of piece.text.split('\n')) if (isDefinition(line)) yield line;
  }
}

function isDefinition(line: string): boolean {
  if (line[0] !== '[') return false;
  const end = line.indexOf(']');
  return end > 1 && line[end + 1] === ':' && line.slice(end + 2).trim() !== '';
}
