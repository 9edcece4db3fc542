import { addRisk, isSafe, markerLength, NO_RISK, type Risk, riskOfLine, SAFE } from './risk.ts';

/** A stretch of the source: for the parser, a whole code block, or text to show as it is written. */
export type Piece =
  | { readonly type: 'markdown'; readonly text: string }
  | { readonly type: 'code'; readonly language: string | undefined; readonly text: string }
  | { readonly type: 'literal'; readonly text: string };

/** One block may be longer than what blocks are joined to, since it cannot be cut. */
const BLOCK: Risk = { ...SAFE, length: 32_000 };
/** What is parsed of one document; the rest is shown as written. No chat answer is this long. */
const DOCUMENT: Risk = {
  length: 200_000,
  lines: 8_000,
  marks: 16_000,
  brackets: 16_000,
  references: 4_000,
  markers: 4_000,
  depth: SAFE.depth,
};

interface Block {
  readonly type: 'markdown' | 'code';
  readonly lines: readonly string[];
  readonly risk: Risk;
}

/**
 * Cuts Markdown into pieces that parse in bounded time. An ordinary answer is one piece, so nothing
 * changes for it; a large one is cut between top-level blocks; a block that would stall the parser
 * becomes literal text.
 * @param markdown with `\n` line ends.
 */
export function cutIntoPieces(markdown: string): Piece[] {
  const lines = markdown.split('\n');
  const whole = lines.map(riskOfLine).reduce(addRisk, NO_RISK);
  if (isSafe(whole)) return [{ type: 'markdown', text: markdown }];
  return joinBlocks(findBlocks(lines));
}

function joinBlocks(blocks: readonly Block[]): Piece[] {
  const pieces: Piece[] = [];
  let waiting: string[] = [];
  let risk = NO_RISK;
  let spent = NO_RISK;
  const flush = () => {
    if (waiting.length > 0) pieces.push({ type: 'markdown', text: waiting.join('\n') });
    waiting = [];
    risk = NO_RISK;
  };
  for (const block of blocks) {
    const total = addRisk(spent, block.risk);
    if (block.type === 'code') {
      flush();
      pieces.push(codePiece(block.lines));
    } else if (!isSafe(block.risk, BLOCK) || !isSafe(total, DOCUMENT)) {
      flush();
      pieces.push({ type: 'literal', text: block.lines.join('\n') });
    } else {
      if (!isSafe(addRisk(risk, block.risk))) flush();
      waiting.push(...block.lines);
      risk = addRisk(risk, block.risk);
      spent = total;
    }
  }
  flush();
  return pieces;
}

/** Top-level blocks: the smallest stretches that mean the same when they are parsed alone. */
function findBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let current: string[] = [];
  let risk = NO_RISK;
  const end = (type: Block['type']) => {
    if (current.length > 0) blocks.push({ type, lines: current, risk });
    current = [];
    risk = NO_RISK;
  };
  let fence: Fence | undefined;
  for (const [index, line] of lines.entries()) {
    if (fence === undefined) {
      fence = openFence(line);
      if (fence !== undefined || startsBlock(line, lines[index - 1])) end('markdown');
      current.push(line);
      risk = addRisk(risk, riskOfLine(line));
    } else {
      current.push(line);
      if (closesFence(line, fence)) {
        end('code');
        fence = undefined;
      }
    }
  }
  end(fence === undefined ? 'markdown' : 'code');
  return blocks;
}

/** Whether a cut before this line is safe: not indented, and after an empty line or as a list item. */
function startsBlock(line: string, before: string | undefined): boolean {
  const first = line[0];
  if (before === undefined || first === undefined || first === ' ' || first === '\t') return false;
  if (before.trim() === '') return true;
  return first !== '>' && markerLength(line, 0) > 0 && markerLength(before.trimStart(), 0) > 0;
}

interface Fence {
  readonly indent: number;
  readonly character: string;
  readonly length: number;
}

/** Reads the opening line of a fenced block that stands at the top level, as CommonMark defines it. */
export function openFence(line: string): Fence | undefined {
  const trimmed = line.trimStart();
  const indent = line.length - trimmed.length;
  const character = trimmed[0];
  if (indent > 3 || (character !== '`' && character !== '~')) return undefined;
  const length = countLeading(trimmed, character);
  if (length < 3) return undefined;
  if (character === '`' && trimmed.includes('`', length)) return undefined;
  return { indent, character, length };
}

/** Whether the line ends the fenced block. */
export function closesFence(line: string, fence: Fence): boolean {
  const trimmed = line.trim();
  if (line.length - line.trimStart().length > 3) return false;
  const length = countLeading(trimmed, fence.character);
  return length >= fence.length && length === trimmed.length;
}

function codePiece(lines: readonly string[]): Piece {
  const opening = lines[0] ?? '';
  const fence = openFence(opening);
  if (fence === undefined) return { type: 'literal', text: lines.join('\n') };
  const last = lines.at(-1) ?? '';
  const closed = lines.length > 1 && closesFence(last, fence);
  const body = lines.slice(1, closed ? -1 : undefined);
  const info = opening.trim().slice(fence.length).trim();
  const text = body.map((line) => withoutIndent(line, fence.indent)).join('\n');
  return { type: 'code', language: info.split(' ')[0] || undefined, text };
}

function withoutIndent(line: string, indent: number): string {
  let at = 0;
  while (at < indent && line[at] === ' ') at += 1;
  return line.slice(at);
}

function countLeading(text: string, character: string): number {
  let count = 0;
  while (text[count] === character) count += 1;
  return count;
}
