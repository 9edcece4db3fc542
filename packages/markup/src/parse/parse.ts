import type { Root } from 'mdast';
import type { Steps } from '../steps.ts';
import { lentDefinitions } from './lent-definitions.ts';
import { type MarkdownParser, parseTree } from './markdown-parser.ts';
import { cutIntoPieces, type Piece } from './pieces.ts';
import { quickTree } from './quick-tree.ts';
import { sourceText } from './source-text.ts';

/** One parsed stretch of the source, in order. */
export type Parsed =
  | {
      readonly type: 'tree';
      readonly root: Root;
      /** What the positions in `root` refer to. */
      readonly source: string;
      /** Nodes that start before this offset were lent by other pieces and are not shown. */
      readonly shownFrom: number;
      readonly endsBlank: boolean;
    }
  | (Exclude<Piece, { type: 'markdown' }> & { readonly endsBlank: boolean });

/** A source without nesting is never cut up to this length, in UTF-16 units. */
const ONE_PIECE = 1_000;

/**
 * Parses any Markdown in bounded time, a step for each piece; what would stall the parser comes back
 * as literal text.
 */
export function* parseMarkdown(markdown: string): Steps<Parsed[]> {
  const source = normalise(markdown);
  if (source.trim() === '') return [];
  const quick = source.length <= ONE_PIECE ? quickTree(source) : undefined;
  if (quick !== undefined) {
    return [{ type: 'tree', root: quick, source, shownFrom: 0, endsBlank: source.endsWith('\n') }];
  }
  const pieces = yield* cutIntoPieces(source);
  const lent = pieces.length > 1 ? lentDefinitions(pieces) : '';
  const parsed: Parsed[] = [];
  for (const piece of pieces) {
    if (piece.type === 'markdown') yield;
    parsed.push(parsePiece(piece, lent));
  }
  return parsed;
}

/** Without a byte order mark, which the parser would leave out of its positions. */
function normalise(markdown: string): string {
  const text = markdown.startsWith('\ufeff') ? markdown.slice(1) : markdown;
  return sourceText(text);
}

function parsePiece(piece: Piece, lent: string): Parsed {
  const endsBlank = piece.text.endsWith('\n') || piece.type === 'code';
  if (piece.type !== 'markdown') return { ...piece, endsBlank };
  const root = tryParse(parseTree, lent + piece.text);
  if (root === undefined) return { type: 'literal', text: piece.text, endsBlank };
  return { type: 'tree', root, source: lent + piece.text, shownFrom: lent.length, endsBlank };
}

/** The parser throws only where it overflows the stack, on nesting the guard did not foresee. */
export function tryParse(parser: MarkdownParser, markdown: string): Root | undefined {
  try {
    return parser(markdown);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
