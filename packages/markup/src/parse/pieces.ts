import { createStepCounter, type Steps } from '../steps.ts';

/** A range of the source: for the parser, a whole code block, or text to show as written. */
export type SourcePiece =
  | { readonly type: 'markdown'; readonly text: string }
  | ({ readonly type: 'code' } & FencedCode)
  | { readonly type: 'literal'; readonly text: string };

/** The size of one step in characters, and the number of characters that a line counts as. */
const STEP = 400_000;
const LINE = 50;

/**
 * Cuts Markdown into pieces that parse in bounded time. An ordinary answer is one piece and stays
 * unchanged; a large answer is cut between top-level blocks; a block that would stall the parser
 * becomes literal text.
 * @param markdown with `\n` line breaks.
 */
export function* splitMarkdown(markdown: string): Steps<SourcePiece[]> {
  const isStep = createStepCounter(STEP);
  const pieces: SourcePiece[] = [];
  // The blocks that are parsed together, and the cost of the document before the current block.
  let joined: string[] = [];
  let risk = NO_RISK;
  let document = NO_RISK;
  let block: SourceBlock = createSourceBlock();
  const flush = () => {
    if (joined.length > 0) pieces.push({ type: 'markdown', text: joined.join('\n') });
    joined = [];
    risk = NO_RISK;
  };
  const endBlock = () => {
    const kind = getPieceType(block, document);
    if (kind !== 'markdown' || !isSafeToParse(sumRisks(risk, block.risk))) flush();
    if (kind !== 'markdown') {
      pieces.push(toSourcePiece(kind, block.lines));
      return;
    }
    for (const line of block.lines) joined.push(line);
    risk = sumRisks(risk, block.risk);
    document = sumRisks(document, block.risk);
  };
  for (const line of markdown.split('\n')) {
    if (isStep(line.length + LINE)) yield;
    if (block.lines.length > 0 && isSafeBlockStart(block, line)) {
      endBlock();
      block = createSourceBlock();
    }
    addBlockLine(block, line);
  }
  endBlock();
  flush();
  return pieces;
}

/** The smallest range that has the same meaning when parsed alone. */
interface SourceBlock {
  readonly lines: string[];
  risk: ParseRisk;
  /** Whether the block has a list item that is not indented. */
  hasItem: boolean;
  /** The fence of a code block, and whether its closing line has not been reached. */
  fence: OpeningFence | undefined;
  isOpen: boolean;
}

function createSourceBlock(): SourceBlock {
  return { lines: [], risk: NO_RISK, hasItem: false, fence: undefined, isOpen: false };
}

function addBlockLine(block: SourceBlock, line: string): void {
  if (block.lines.length === 0) {
    block.fence = parseOpeningFence(line);
    block.isOpen = block.fence !== undefined;
  } else if (block.fence !== undefined && block.isOpen) {
    block.isOpen = !isClosingFence(line, block.fence);
  }
  block.lines.push(line);
  block.risk = sumRisks(block.risk, assessLineRisk(line));
  block.hasItem ||= canInterruptParagraph(line);
}

/**
 * Whether a cut before this line is safe: around a code block, or not indented and after an empty
 * line or as a list item.
 */
function isSafeBlockStart({ lines, fence, isOpen, hasItem }: SourceBlock, line: string): boolean {
  if (fence !== undefined) return !isOpen;
  if (parseOpeningFence(line) !== undefined) return true;
  const before = lines.at(-1) ?? '';
  if (line === '' || line.startsWith(' ') || line.startsWith('\t')) return false;
  if (before.trim() === '') return true;
  if (line.startsWith('>') || measureMarker(line, 0) === 0) return false;
  return hasItem || measureMarker(before.trimStart(), 0) > 0;
}

function toSourcePiece(type: SourcePiece['type'], lines: readonly string[]): SourcePiece {
  const code = type === 'code' ? parseFencedCode(lines) : undefined;
  if (code !== undefined) return { type: 'code', ...code };
  return { type: type === 'markdown' ? type : 'literal', text: lines.join('\n') };
}

function getPieceType({ risk, fence }: SourceBlock, document: ParseRisk): SourcePiece['type'] {
  const isCode = fence !== undefined;
  if (!isSafeToParse(sumRisks(document, risk), DOCUMENT)) return isCode ? 'code' : 'literal';
  if (isCode) return isSafeToParse(risk) ? 'markdown' : 'code';
  return isSafeToParse(risk, BLOCK) ? 'markdown' : 'literal';
}

/**
 * Whether the line is a list item that needs no empty line before it: a bullet or number 1, with
 * text.
 */
function canInterruptParagraph(line: string): boolean {
  const length = measureMarker(line, 0);
  return (
    length > 0 && /^(?:[-*+]|1[.)])$/.test(line.slice(0, length)) && line.trim().length > length
  );
}

/** The features that make Markdown slow to parse, counted without parsing. */
interface ParseRisk {
  readonly length: number;
  readonly lines: number;
  /** Counts `*`, `_` and `~`, because the parser compares every closer with every opener. */
  readonly marks: number;
  /** Counts `[` and `]`. */
  readonly brackets: number;
  /** Counts `&`, which is slow at the end of a bare address. */
  readonly references: number;
  /** Counts `|`, because each cell of a table is parsed separately. */
  readonly cells: number;
  /** Lines that open or underline a block: list items, quotes, `===`. */
  readonly markers: number;
  /** The deepest nesting of lists and quotes. */
  readonly depth: number;
}

/**
 * The limits for one parser call. Measured on two cores at these limits: 10–50 ms per call, while
 * 80 kB of `a**b` in one call take 10–68 s and 500 list levels 5 s.
 */
const SAFE: ParseRisk = {
  length: 16_000,
  lines: 1_000,
  marks: 1_000,
  brackets: 800,
  references: 500,
  cells: 2_000,
  markers: 300,
  depth: 24,
};

/**
 * One block may contain more than joined blocks, because it cannot be cut: up to 100 ms per call.
 */
const BLOCK: ParseRisk = { ...SAFE, length: 32_000, brackets: 1_500, cells: 4_000, markers: 800 };
/**
 * The limits for one document; text beyond them is shown as written. Chat answers are much shorter.
 */
const DOCUMENT: ParseRisk = {
  length: 200_000,
  lines: 8_000,
  marks: 16_000,
  brackets: 16_000,
  references: 4_000,
  cells: 40_000,
  markers: 4_000,
  depth: SAFE.depth,
};

/** The counts that are summed; the depth is not. */
const SUMS = ['length', 'lines', 'marks', 'brackets', 'references', 'cells', 'markers'] as const;

const NO_RISK: ParseRisk = {
  length: 0,
  lines: 0,
  marks: 0,
  brackets: 0,
  references: 0,
  cells: 0,
  markers: 0,
  depth: 0,
};

/** Whether the parser can process text with these counts in one call. */
function isSafeToParse(risk: ParseRisk, limit: ParseRisk = SAFE): boolean {
  return risk.depth <= limit.depth && SUMS.every((kind) => risk[kind] <= limit[kind]);
}

/** The counts of two ranges that are parsed together. */
function sumRisks(a: ParseRisk, b: ParseRisk): ParseRisk {
  const both = { ...a, depth: Math.max(a.depth, b.depth) };
  for (const kind of SUMS) both[kind] += b[kind];
  return both;
}

/** The counts of one line, given without its line break. */
function assessLineRisk(line: string): ParseRisk {
  let marks = 0;
  let brackets = 0;
  let references = 0;
  let cells = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at];
    if (character === '*' || character === '_' || character === '~') marks += 1;
    else if (character === '[' || character === ']') brackets += 1;
    else if (character === '&') references += 1;
    else if (character === '|') cells += 1;
  }
  const { depth, marker } = measureNesting(line);
  const markers = marker ? 1 : 0;
  return { length: line.length + 1, lines: 1, marks, brackets, references, cells, markers, depth };
}

/**
 * The maximum depth to which a line may nest: its own markers, and two columns of indent for each
 * enclosing list.
 */
function measureNesting(line: string): { depth: number; marker: boolean } {
  let indent = 0;
  let own = 0;
  let at = 0;
  for (; at < line.length; at += 1) {
    const character = line[at];
    if (character === ' ') indent += own === 0 ? 1 : 0;
    else if (character === '\t') indent += own === 0 ? 4 : 0;
    else {
      const length = measureMarker(line, at);
      if (length === 0) break;
      own += 1;
      at += length - 1;
    }
  }
  const underline = own === 0 && line[at] === '=';
  return { depth: own === 0 ? 0 : own + Math.floor(indent / 2), marker: own > 0 || underline };
}

/** The length of the quote or list marker at `at`; 0 when there is no marker. */
function measureMarker(line: string, at: number): number {
  const character = line[at];
  if (character === '>') return 1;
  let end = at;
  if (character === '-' || character === '*' || character === '+') end += 1;
  else {
    while (end - at < 9 && isDigit(line[end])) end += 1;
    if (end === at || (line[end] !== '.' && line[end] !== ')')) return 0;
    end += 1;
  }
  const after = line[end];
  return after === undefined || after === ' ' || after === '\t' ? end - at : 0;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

/** The opening line of a fenced code block. */
interface OpeningFence {
  readonly indent: number;
  readonly character: string;
  readonly length: number;
}

/** Reads the opening line of a fenced block at the top level, as CommonMark defines it. */
function parseOpeningFence(line: string): OpeningFence | undefined {
  const trimmed = line.trimStart();
  const indent = line.length - trimmed.length;
  const character = trimmed[0];
  if (indent > 3 || (character !== '`' && character !== '~')) return undefined;
  const length = countLeadingCharacters(trimmed, character);
  if (length < 3) return undefined;
  if (character === '`' && trimmed.includes('`', length)) return undefined;
  return { indent, character, length };
}

/** Whether the line ends the fenced block. */
function isClosingFence(line: string, fence: OpeningFence): boolean {
  const trimmed = line.trim();
  if (line.length - line.trimStart().length > 3) return false;
  const length = countLeadingCharacters(trimmed, fence.character);
  return length >= fence.length && length === trimmed.length;
}

interface FencedCode {
  readonly language: string | undefined;
  readonly text: string;
}

/**
 * Reads a fenced block without the parser.
 * @param lines with the opening line and, if there is one, the closing line.
 */
function parseFencedCode(lines: readonly string[]): FencedCode | undefined {
  const opening = lines[0] ?? '';
  const fence = parseOpeningFence(opening);
  if (fence === undefined) return undefined;
  const closed = lines.length > 1 && isClosingFence(lines.at(-1) ?? '', fence);
  // The line break before the closing line, or at the end of the text, is not part of the code.
  const body = lines.slice(1, closed || lines.at(-1) === '' ? -1 : undefined);
  const info = opening.trim().slice(fence.length).trim();
  const text = body.map((line) => removeIndent(line, fence.indent)).join('\n');
  return { language: info.split(' ')[0] || undefined, text };
}

function removeIndent(line: string, indent: number): string {
  let at = 0;
  while (at < indent && line[at] === ' ') at += 1;
  return line.slice(at);
}

function countLeadingCharacters(text: string, character: string): number {
  let count = 0;
  while (text[count] === character) count += 1;
  return count;
}
