import { type Steps, stepEvery } from '../steps.ts';
import { type FencedCode, readFenced } from './fence.ts';
import { nextLine, type Position, START } from './next-line.ts';

/** A stretch of the source: for the parser, a whole code block, or text to show as it is written. */
export type Piece =
  | { readonly type: 'markdown'; readonly text: string }
  | ({ readonly type: 'code' } & FencedCode)
  | { readonly type: 'literal'; readonly text: string };

/** What is read in one step, in characters; a line costs as much as so many of them. */
const STEP = 400_000;
const LINE = 50;

/**
 * Cuts Markdown into pieces that parse in bounded time. An ordinary answer is one piece, so nothing
 * changes for it; a large one is cut between top-level blocks; a block that would stall the parser
 * becomes literal text.
 * @param markdown with `\n` line ends.
 */
export function* cutIntoPieces(markdown: string): Steps<Piece[]> {
  const isStep = stepEvery(STEP);
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let blockAt = 0;
  let last = START;
  const flush = (kind: Position['kind'], end: number) => {
    if (end === 0) return;
    pieces.push(pieceOf(kind, lines.slice(0, end)));
    lines = lines.slice(end);
    blockAt = 0;
  };
  for (const line of markdown.split('\n')) {
    if (isStep(line.length + LINE)) yield;
    const position = nextLine(last, line);
    if (position.begins) {
      // A block that stays in its piece waits there for what follows.
      if (last.kind !== 'markdown') flush(last.kind, lines.length);
      blockAt = lines.length;
    }
    // What comes before a block that begins a piece is a piece of its own, and always for the parser.
    if (position.beginsPiece) flush('markdown', blockAt);
    lines.push(line);
    last = position;
  }
  flush(last.kind, lines.length);
  return pieces;
}

function pieceOf(type: Position['kind'], lines: readonly string[]): Piece {
  const code = type === 'code' ? readFenced(lines) : undefined;
  if (code !== undefined) return { type: 'code', ...code };
  return { type: type === 'markdown' ? type : 'literal', text: lines.join('\n') };
}
