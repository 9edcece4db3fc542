import { type Steps, stepEvery } from '../steps.ts';
import { closesFence, type Fence, type FencedCode, openFence, readFenced } from './fences.ts';
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
  // The blocks that are parsed together, and what the parser gets of the document before this block.
  let joined: string[] = [];
  let risk = NO_RISK;
  let document = NO_RISK;
  let block: Block = newBlock();
  const flush = () => {
    if (joined.length > 0) pieces.push({ type: 'markdown', text: joined.join('\n') });
    joined = [];
    risk = NO_RISK;
  };
  const endBlock = () => {
    const kind = kindOf(block, document);
    if (kind !== 'markdown' || !isSafe(addRisk(risk, block.risk))) flush();
    if (kind !== 'markdown') {
      pieces.push(pieceOf(kind, block.lines));
      return;
    }
    for (const line of block.lines) joined.push(line);
    risk = addRisk(risk, block.risk);
    document = addRisk(document, block.risk);
  };
  for (const line of markdown.split('\n')) {
    if (isStep(line.length + LINE)) yield;
    if (block.lines.length > 0 && beginsBlock(block, line)) {
      endBlock();
      block = newBlock();
    }
    addLine(block, line);
  }
  endBlock();
  flush();
  return pieces;
}

/** The smallest stretch that means the same when it is parsed alone. */
interface Block {
  readonly lines: string[];
  risk: Risk;
  /** Whether it has an item of a list that is not indented. */
  hasItem: boolean;
  /** The fence of a code block, and whether its closing line is still to come. */
  fence: Fence | undefined;
  isOpen: boolean;
}

function newBlock(): Block {
  return { lines: [], risk: NO_RISK, hasItem: false, fence: undefined, isOpen: false };
}

function addLine(block: Block, line: string): void {
  if (block.lines.length === 0) {
    block.fence = openFence(line);
    block.isOpen = block.fence !== undefined;
  } else if (block.fence !== undefined && block.isOpen) {
    block.isOpen = !closesFence(line, block.fence);
  }
  block.lines.push(line);
  block.risk = addRisk(block.risk, riskOfLine(line));
  block.hasItem ||= isItem(line);
}

/** Whether a cut before this line is safe: round a code block, or not indented and after an empty line or as a list item. */
function beginsBlock({ lines, fence, isOpen, hasItem }: Block, line: string): boolean {
  if (fence !== undefined) return !isOpen;
  if (openFence(line) !== undefined) return true;
  const before = lines.at(-1) ?? '';
  if (line === '' || line.startsWith(' ') || line.startsWith('\t')) return false;
  if (before.trim() === '') return true;
  if (line.startsWith('>') || markerLength(line, 0) === 0) return false;
  return hasItem || markerLength(before.trimStart(), 0) > 0;
}

function pieceOf(type: Piece['type'], lines: readonly string[]): Piece {
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

function kindOf({ risk, fence }: Block, document: Risk): Piece['type'] {
  const isCode = fence !== undefined;
  if (!isSafe(addRisk(document, risk), DOCUMENT)) return isCode ? 'code' : 'literal';
  if (isCode) return isSafe(risk) ? 'markdown' : 'code';
  return isSafe(risk, BLOCK) ? 'markdown' : 'literal';
}

/** Whether the line is an item that needs no empty line before it: a bullet or number 1, with text. */
function isItem(line: string): boolean {
  const length = markerLength(line, 0);
  return (
    length > 0 && /^(?:[-*+]|1[.)])$/.test(line.slice(0, length)) && line.trim().length > length
  );
}
