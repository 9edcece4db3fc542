import { type Steps, stepEvery } from '../steps.ts';
import {
  closesFence,
  type Fence,
  type FencedCode,
  openFence,
  openMathsFence,
  readFenced,
} from './fences.ts';
import { addRisk, isSafe, markerLength, NO_RISK, type Risk, riskOfLine, SAFE } from './risk.ts';

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

/** One block may hold more than blocks that are joined, since it cannot be cut: up to 100 ms a call. */
const BLOCK: Risk = { ...SAFE, length: 32_000, brackets: 1_500, cells: 4_000, markers: 800 };
/** What is parsed of one document; the rest is shown as written. No chat answer is this long. */
const DOCUMENT: Risk = {
  length: 200_000,
  lines: 8_000,
  marks: 16_000,
  brackets: 16_000,
  references: 4_000,
  cells: 40_000,
  markers: 4_000,
  depth: SAFE.depth,
};

/** What the block of the last line is to be shown as, as far as it goes. */
export interface Position {
  /** For the parser, a whole code block without the parser, or text to show as it is written. */
  readonly kind: 'markdown' | 'code' | 'literal';
  /** Whether this block was begun by the last line. */
  readonly begins: boolean;
  /** Whether a piece begins with this block: it is not parsed together with the one before. */
  readonly beginsPiece: boolean;
  readonly line: string;
  /** Whether the block has an item of a list that is not indented. */
  readonly hasItem: boolean;
  /** The fence of a code block; `open` until its closing line. */
  readonly fence: (Fence & { readonly open: boolean }) | undefined;
  readonly block: Risk;
  /** What the piece and the document held before this block. */
  readonly before: { readonly piece: Risk; readonly document: Risk };
}

/** The place before the first line. */
export const START: Position = {
  kind: 'literal',
  begins: false,
  beginsPiece: true,
  line: '',
  hasItem: false,
  fence: undefined,
  block: NO_RISK,
  before: { piece: NO_RISK, document: NO_RISK },
};

/**
 * Places one more line. Blocks are the smallest stretches that mean the same when they are parsed
 * alone. As a block grows its kind only goes from `markdown` to one of the others, and `beginsPiece`
 * only from false to true: whoever shows unfinished text can rely on what was settled before.
 */
export function nextLine(last: Position, line: string): Position {
  const opened = openedBy(last, line);
  const begins = beginsBlock(last, line, opened);
  const before = begins ? afterBlock(last) : last.before;
  const block = begins ? riskOfLine(line) : addRisk(last.block, riskOfLine(line));
  const hasItem = (!begins && last.hasItem) || isItem(line);
  const fence = begins ? opened && { ...opened, open: true } : closed(last.fence, line);
  const kind = kindOf(block, before.document, fence !== undefined);
  const follows = begins ? last.kind === 'markdown' : !last.beginsPiece;
  const beginsPiece = kind !== 'markdown' || !follows || !isSafe(addRisk(before.piece, block));
  return { kind, begins, beginsPiece, line, hasItem, fence, block, before };
}

/** Whether the line begins a block. */
export function beginsBlock(
  last: Position,
  line: string,
  opened: Fence | undefined = openedBy(last, line),
): boolean {
  return last === START || opened !== undefined || startsBlock(last, line);
}

function openedBy(last: Position, line: string): Fence | undefined {
  return last.fence?.open ? undefined : (openFence(line) ?? mathsAfter(last, line));
}

function kindOf(block: Risk, document: Risk, isCode: boolean): Position['kind'] {
  if (!isSafe(addRisk(document, block), DOCUMENT)) return isCode ? 'code' : 'literal';
  if (isCode) return isSafe(block) ? 'markdown' : 'code';
  return isSafe(block, BLOCK) ? 'markdown' : 'literal';
}

function afterBlock({ kind, beginsPiece, block, before }: Position): Position['before'] {
  if (kind !== 'markdown') return { piece: NO_RISK, document: before.document };
  return {
    piece: beginsPiece ? block : addRisk(before.piece, block),
    document: addRisk(before.document, block),
  };
}

function closed(fence: Position['fence'], line: string): Position['fence'] {
  if (fence === undefined || !fence.open) return fence;
  return { ...fence, open: !closesFence(line, fence) };
}

/** In a paragraph a marker alone may also end maths that began in its text. */
function mathsAfter({ line: before, fence }: Position, line: string): Fence | undefined {
  return before.trim() === '' || fence !== undefined ? openMathsFence(line) : undefined;
}

/** Whether a cut before this line is safe: after a code block, or not indented and after an empty line or as a list item. */
function startsBlock({ fence, line: before, hasItem }: Position, line: string): boolean {
  if (fence !== undefined) return !fence.open;
  const first = line[0];
  if (first === undefined || first === ' ' || first === '\t') return false;
  if (before.trim() === '') return true;
  if (first === '>' || markerLength(line, 0) === 0) return false;
  return hasItem || markerLength(before.trimStart(), 0) > 0;
}

/** Whether the line is an item that needs no empty line before it: a bullet or number 1, with text. */
function isItem(line: string): boolean {
  const length = markerLength(line, 0);
  return (
    length > 0 && /^(?:[-*+]|1[.)])$/.test(line.slice(0, length)) && line.trim().length > length
  );
}
