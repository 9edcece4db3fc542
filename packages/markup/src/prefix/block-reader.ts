import type { Leaf } from '../document.ts';
import { readFenced } from '../parse/fences.ts';
import { beginsBlock, nextLine, type Position, START } from '../parse/pieces.ts';
import { GrowingBlock, type GrowingCode } from './growing-block.ts';
import { OpenBlock } from './open-block.ts';
import type { GrowingLeaf, PartMaker } from './part-maker.ts';
import {
  type Before,
  type DraftTarget,
  draftSegment,
  type Segment,
  SegmentParser,
} from './segments.ts';

/** A block that could not be settled is tried again when there is so much more to gain. */
const PATIENCE = 1.5;

/** What is still open: how the last settled leaf goes on, and leaves behind it. */
export interface OpenEnd {
  readonly more: GrowingLeaf | undefined;
  readonly leaves: readonly Leaf[];
}

/**
 * Reads a text that grows and settles its blocks as soon as a line shows that the parser is through
 * with them. It keeps the block that is still open, which is bounded: as in `cutIntoPieces` a block
 * beyond the parser's limits is shown without the parser. What it does depends on whole lines alone,
 * not on how the text was cut on its way.
 */
export class BlockReader {
  readonly #target: DraftTarget;
  readonly #parts: PartMaker;
  readonly #parser: SegmentParser;
  #before: Before = { gap: 2, list: undefined, used: new Set() };
  /** Where the last whole line stands. */
  #position = START;
  /** The whole lines that are not settled, each with its line end. */
  #tail = '';
  /** Where in it the block of the last line begins. */
  #blockAt = 0;
  #tryFrom = 0;
  /** The line that is still being written. */
  #line = '';
  #isPlaced = false;
  /** The open block, if it needs no parser. */
  #growing: GrowingBlock | undefined;
  readonly #block: OpenBlock;
  #last: OpenEnd = { more: undefined, leaves: [] };

  constructor(target: DraftTarget, parts: PartMaker, parser = new SegmentParser()) {
    this.#target = target;
    this.#parts = parts;
    this.#parser = parser;
    this.#block = new OpenBlock(parser, target);
  }

  /** @param text normalised. */
  read(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#line += text.slice(from, end);
      this.#endLine();
      from = end + 1;
    }
    this.#line += text.slice(from);
    this.#growLine();
  }

  /** What was read and is not settled. The very same object as before if it shows the same. */
  open(): OpenEnd {
    const { more, leaves } =
      this.#growing === undefined ? this.#openTail() : this.#openGrowing(this.#growing);
    if (more !== undefined || this.#last.more !== undefined || this.#last.leaves !== leaves) {
      this.#last = { more, leaves };
    }
    return this.#last;
  }

  #openGrowing(growing: GrowingBlock): OpenEnd {
    const line = this.#line;
    const goesOn = line === '' || this.#isPlaced || !beginsBlock(this.#position, line);
    if (goesOn) return { more: growing.rest(line), leaves: [] };
    const leaves = this.#block.leaves(line, this.#afterGrowing(true));
    return { more: growing.rest(''), leaves };
  }

  #openTail(): OpenEnd {
    const line = this.#line;
    const position = line === '' ? this.#position : nextLine(this.#position, line);
    const cutAt = position.begins && line !== '' ? this.#tail.length : this.#blockAt;
    const text = this.#tail + line;
    if (!position.beginsPiece || cutAt === 0) {
      return { more: undefined, leaves: this.#block.leaves(text, this.#before) };
    }
    const whole = this.#tail.slice(0, cutAt);
    const { leaves, before } = draftSegment(this.#parser.whole(whole), this.#before, this.#target);
    const rest = this.#block.leaves(text.slice(cutAt), afterPiece(before, whole));
    return { more: undefined, leaves: [...leaves, ...rest] };
  }

  #endLine(): void {
    const line = this.#line;
    const position = nextLine(this.#position, line);
    if (!this.#isPlaced) this.#place(position, line);
    if (this.#growing === undefined) this.#tail += `${line}\n`;
    else if (!isFenceLine(position)) this.#growing.endLine(line);
    this.#position = position;
    this.#isPlaced = false;
    this.#line = '';
  }

  /** A line without an end must not be kept until it ends. */
  #growLine(): void {
    const line = this.#line;
    if (line === '') return;
    if (this.#growing === undefined) {
      const position = nextLine(this.#position, line);
      if (position.kind !== 'literal') return;
      this.#place(position, line);
      this.#isPlaced = true;
    }
    if (this.#isPlaced || !beginsBlock(this.#position, line)) this.#growing?.grow(line);
  }

  /** Ends the block before a line, or the piece before its block, if they do end there. */
  #place(position: Position, line: string): void {
    if (position.begins) {
      if (this.#growing !== undefined) {
        this.#before = this.#afterGrowing(this.#growing.end());
        this.#growing = undefined;
      } else if (position.beginsPiece) this.#settlePiece(this.#tail.length);
      else this.#settleBlocks(line);
      this.#blockAt = this.#tail.length;
    } else if (position.beginsPiece && !this.#position.beginsPiece)
      this.#settlePiece(this.#blockAt);
    if (this.#growing === undefined) this.#growing = this.#growingAt(position, line);
  }

  /** Settles the blocks before a line, if the parser sees one begin there. */
  #settleBlocks(line: string): void {
    const mayBegin = line !== '' && line.trimStart() === line;
    if (this.#tail === '' || !mayBegin || this.#tail.length < this.#tryFrom) return;
    const segment = this.#parser.before(this.#tail, line);
    if (segment === undefined) {
      this.#tryFrom = this.#tail.length * PATIENCE;
      return;
    }
    this.#settle(segment);
    this.#tail = '';
    this.#tryFrom = 0;
  }

  /** Settles all blocks up to an offset of the tail, as the end of a piece. */
  #settlePiece(end: number): void {
    const piece = this.#tail.slice(0, end);
    if (piece !== '') {
      this.#settle(this.#parser.whole(piece));
      this.#before = afterPiece(this.#before, piece);
    }
    this.#before = { ...this.#before, list: undefined };
    this.#tail = this.#tail.slice(end);
    this.#blockAt = 0;
    this.#tryFrom = 0;
  }

  #settle(segment: Segment): void {
    const { leaves, before } = draftSegment(segment, this.#before, this.#target);
    this.#before = before;
    this.#parser.lend(segment);
    this.#parts.add(leaves);
  }

  /** The block of a line, if it needs no parser; takes what the tail has of it. */
  #growingAt(position: Position, line: string): GrowingBlock | undefined {
    const isFence = position.begins && isPlainFence(position) && this.#tail === '';
    if (position.kind === 'markdown' && !isFence) return undefined;
    const lines = this.#tail.split('\n').slice(0, -1);
    const growing = new GrowingBlock({
      parts: this.#parts,
      pings: this.#target.pings,
      gap: this.#before.gap,
      code: position.kind === 'literal' ? undefined : this.#codeOf(position, lines[0] ?? line),
    });
    for (const [index, each] of lines.entries()) {
      if (index > 0 || !hasFenceLines(position)) growing.endLine(each);
    }
    this.#tail = '';
    this.#blockAt = 0;
    return growing;
  }

  #codeOf({ fence }: Position, opening: string): GrowingCode {
    const [code] = this.#parser.whole(opening).nodes;
    const language = code?.type === 'code' ? code.lang : readFenced([opening])?.language;
    return { language: language ?? undefined, indent: fence?.indent ?? 0 };
  }

  /** What follows a block that needed no parser has to know. */
  #afterGrowing(isShown: boolean): Before {
    const { kind, line } = this.#position;
    const isSpaced = kind === 'code' || (kind === 'literal' && line === '');
    const left = isShown ? 1 : (this.#growing?.gap ?? 1);
    return { ...this.#before, gap: isSpaced ? 2 : left, list: undefined };
  }
}

/** Between pieces there is an empty line if the first one ends with one. */
function afterPiece(before: Before, piece: string): Before {
  return { ...before, gap: piece.endsWith('\n\n') ? 2 : 1, list: undefined };
}

/** Maths is shown with its markers until the parser can have it. */
function hasFenceLines({ fence }: Position): boolean {
  return fence !== undefined && fence.maths === undefined;
}

/** A fence that only its closing line can end. */
function isPlainFence(position: Position): boolean {
  return hasFenceLines(position) && position.fence?.indent === 0;
}

/** Whether the position's line is the first or last of a code block, and not shown. */
function isFenceLine(position: Position): boolean {
  return hasFenceLines(position) && (position.begins || position.fence?.open === false);
}
