import { joinAdjacentPieces, type SeparatedPiece, type SeparatorOptions } from './answer-piece.ts';
import { classifyUnmarkedCall } from './bare-call.ts';
import { coerceBlockCalls, createDroppedCall } from './call-block.ts';
import { countOpeningMarkers, findEndMarker, findFirstMarker } from './find-close.ts';
import { type FoundMarker, findMarker } from './find-marker.ts';
import { MAX_HEADER, readHarmonyHeader } from './harmony-header.ts';
import { BARE_CLOSES, CALL_LINE, type Marker, SIGNS } from './markers.ts';
import { type SeparatorMode, startReasoning } from './mode.ts';
import { resemblesReasoning } from './reasoning-habit.ts';
import { VisibleTextState } from './shown-text.ts';
import { parseTextToolCalls, type TextToolCall } from './written-calls.ts';

export type { SeparatedPiece, SeparatorOptions };

/**
 * The maximum length of text that may still turn out to be reasoning, in characters; longer text is
 * an answer.
 */
const MAX_HELD = 60_000;
/** How many characters of a line of reasoning are examined. */
const MAX_LINE = 500;
/** The maximum length of a marker, in characters. */
const MAX_MARK = 40;

/**
 * Separates a streamed answer into text, reasoning and tool calls written as text, regardless of
 * how it is split into chunks. Text that may still become a marker is held back. Markers count
 * depending on their position: tags at the start of the answer or of a line, chat template tokens
 * everywhere, and none inside code, quotations or a sentence about them. Text without a marker is
 * passed on character for character.
 */
export class AnswerSeparator {
  private readonly options: SeparatorOptions;
  private readonly shown = new VisibleTextState();
  private buffer = '';
  private mode: SeparatorMode = { kind: 'text' };
  private pieces: SeparatedPiece[] = [];
  /** Calls are passed on at the end, because they may still turn out to be inside reasoning. */
  private calls: SeparatedPiece[] = [];
  /** Text that may turn out to be reasoning; null while text is passed on. */
  private held: string | null;
  private ended = false;
  private wasCut = false;
  private triedBare = false;
  private hasReasoned = false;
  /**
   * Reasoning that was opened again within the initial reasoning, and whose end marker may still
   * arrive.
   */
  private openedWithin = 0;
  /** Whether the answer started within reasoning. */
  sawBareClose = false;

  constructor(options: SeparatorOptions) {
    this.options = options;
    this.held = options.start === 'text' ? null : '';
  }

  push(text: string): readonly SeparatedPiece[] {
    this.buffer += text;
    return this.advance();
  }

  /** `wasCut`: the provider cut off the answer at a limit. */
  end(wasCut: boolean): readonly SeparatedPiece[] {
    this.ended = true;
    this.wasCut = wasCut;
    const pieces = [...this.advance(), ...this.finish()];
    const { held } = this;
    this.held = null;
    if (held !== null && held !== '')
      pieces.push({ kind: wasCut ? 'reasoning' : 'text', text: held });
    return [...pieces, ...this.calls];
  }

  private advance(): readonly SeparatedPiece[] {
    // Each step consumes text or changes the mode; false means that more text must arrive first.
    while (this.step());
    const { pieces } = this;
    this.pieces = [];
    return joinAdjacentPieces(pieces);
  }

  private step(): boolean {
    switch (this.mode.kind) {
      case 'text':
        return this.buffer !== '' && this.stepText();
      case 'bare':
        return this.stepBare();
      case 'reasoning':
        return this.stepReasoning(this.mode);
      case 'call':
        return this.stepCall(this.mode);
    }
  }

  // ---- text

  private stepText(): boolean {
    const { shown } = this;
    const blank = /^\s*/.exec(this.buffer)?.[0].length ?? 0;
    if (
      shown.isEmpty &&
      !this.triedBare &&
      !this.options.wantsJson &&
      this.options.offered.length > 0
    ) {
      if (blank === this.buffer.length) return this.ended ? this.show(this.buffer.length) : false;
      this.triedBare = true;
      this.mode = { kind: 'bare' };
      return true;
    }
    const sign = SIGNS.exec(this.buffer)?.index ?? this.buffer.length;
    const first = shown.isLineStart ? Math.min(sign, blank) : sign;
    if (first > 0) return this.show(first);
    const found = findMarker({ text: this.buffer, shown, ended: this.ended });
    if (found === 'wait') return false;
    if (found === 'none') return this.showSign();
    return this.open(found);
  }

  /**
   * Shows one character that does not open a block; a run of backticks is shown as a whole, because
   * its length matters.
   */
  private showSign(): boolean {
    const [run = ''] = /^(?:`+|~+)/.exec(this.buffer) ?? [];
    if (run.length === this.buffer.length && !this.ended) return false;
    return this.show(Math.max(1, run.length));
  }

  private show(length: number): boolean {
    this.addText(this.shown.add(this.buffer.slice(0, length)));
    this.buffer = this.buffer.slice(length);
    return true;
  }

  private addText(text: string): void {
    if (this.held === null) {
      if (text !== '') this.pieces.push({ kind: 'text', text });
      return;
    }
    this.held += text;
    if (this.options.start === 'unknown' && resemblesReasoning(this.held) === false) this.release();
    if (this.held === null || this.held.length <= MAX_HELD) return;
    this.closeBare(false);
    this.mode = startReasoning({ ...NO_MARKER, close: BARE_CLOSES }, '', true);
  }

  /**
   * The next part is not text, so no marker continues beyond this point. `isOutside`: the server
   * separates reasoning or calls itself, so that the text contains neither.
   */
  interrupt(isOutside: boolean): readonly SeparatedPiece[] {
    if (isOutside) this.release();
    this.ended = true;
    const pieces = this.advance();
    this.ended = false;
    return pieces;
  }

  /** Releases the held text as part of the answer. */
  private release(): void {
    const { held } = this;
    this.held = null;
    if (held !== null) this.addText(held);
  }

  private open(marker: FoundMarker): boolean {
    const raw = this.buffer.slice(0, marker.open.length);
    switch (marker.kind) {
      case 'bare':
      case 'noise':
        this.buffer = this.buffer.slice(raw.length);
        if (marker.kind === 'bare') this.closeBare(true);
        this.shown.hideHere();
        return true;
      case 'header':
        return this.openHeader(marker);
      case 'reasoning':
        // If the question names a tag, the answer is about that tag.
        if (marker.where === 'sentence' && this.options.isQuoted(raw)) return this.showSign();
        this.buffer = this.buffer.slice(raw.length);
        this.beginReasoning(marker, raw);
        return true;
      case 'call': {
        this.buffer = this.buffer.slice(raw.length);
        const isMarked = this.shown.isLineStart || /^[<[](?:[|｜]|tool_)/i.test(raw);
        this.mode = { kind: 'call', marker, raw, tail: '', isMarked };
        return true;
      }
    }
  }

  /** Marks all text so far as reasoning. `isOver`: the reasoning ends at this position. */
  private closeBare(isOver: boolean): void {
    // After complete reasoning, another end marker is superfluous.
    if (this.hasReasoned && this.openedWithin === 0) return;
    this.openedWithin = Math.max(0, this.openedWithin - 1);
    this.hasReasoned = isOver;
    this.sawBareClose = isOver;
    const text = this.shown.restart();
    if (this.held === null && text !== '') this.pieces.push({ kind: 'restart' });
    this.held = null;
    this.calls = [];
    this.addReasoning(text);
    this.triedBare = false;
  }

  /** The header of a gpt-oss message determines its kind. */
  private openHeader(marker: Marker): boolean {
    const header = readHarmonyHeader(this.buffer);
    if (header === null && !this.ended && this.buffer.length < MAX_HEADER) return false;
    const length = header?.length ?? marker.open.length;
    const raw = this.buffer.slice(0, length);
    this.buffer = this.buffer.slice(length);
    if (header?.kind === 'call') {
      const call = { ...marker, kind: 'call', keepsOpen: true } as const;
      this.mode = { kind: 'call', marker: call, raw: header.begin, tail: '', isMarked: true };
    } else if (header?.kind === 'reasoning') this.beginReasoning(marker, raw);
    else this.shown.hideHere();
    return true;
  }

  private beginReasoning(marker: Marker, raw: string): void {
    this.release();
    this.mode = startReasoning(marker, raw, this.shown.isEmpty);
  }

  // ---- reasoning

  private addReasoning(text: string): void {
    if (text !== '') this.pieces.push({ kind: 'reasoning', text });
  }

  private stepReasoning(mode: Extract<SeparatorMode, { kind: 'reasoning' }>): boolean {
    const { marker } = mode;
    // The preceding line decides whether a marker is within inline code.
    const before = mode.line;
    const close = findEndMarker(before + this.buffer, marker.close, this.ended, before.length);
    const hide = (length: number): void => {
      const text = this.buffer.slice(0, length);
      mode.content += text;
      const line = before + text;
      mode.line = line.slice(line.lastIndexOf('\n') + 1).slice(-MAX_LINE);
      this.buffer = this.buffer.slice(length);
      if (marker.needsClose === undefined) this.addReasoning(text);
    };
    if (close.kind === 'found') {
      hide(close.at - before.length);
      if (marker.needsClose === true) this.addReasoning(mode.content);
      const end = this.buffer.slice(0, close.length).toLowerCase();
      this.hasReasoned = true;
      if (mode.isFirst) this.openedWithin = countOpeningMarkers(mode.content, marker.open);
      this.shown.hideHere();
      this.triedBare = false;
      if (end !== '<|start|>' && end !== '<|channel|>')
        this.buffer = this.buffer.slice(close.length);
      this.mode =
        end === 'assistantcommentary'
          ? { kind: 'call', marker: NO_MARKER, raw: '', tail: '', isMarked: true }
          : { kind: 'text' };
      return true;
    }
    hide(Math.max(0, close.at - before.length));
    return false;
  }

  // ---- calls

  private stepCall(mode: Extract<SeparatorMode, { kind: 'call' }>): boolean {
    mode.raw += this.buffer;
    // The whole text is not searched again with each fragment, which would take quadratic time.
    mode.tail += this.buffer;
    this.buffer = '';
    if (mode.raw.length > this.options.maxCall) {
      this.calls.push(createDroppedCall('too-long', mode.raw, 'it is too long'));
      this.mode = startReasoning(mode.marker, '', false);
      return true;
    }
    for (;;) {
      const found = findFirstMarker(mode.tail, mode.marker.close, 0);
      if (found === null) {
        mode.tail = mode.tail.slice(-MAX_MARK);
        return false;
      }
      const at = mode.raw.length - mode.tail.length + found.at;
      const end = at + found.length;
      const calls = parseTextToolCalls(this.bodyOf(mode, at, end));
      if (calls !== null || this.ended) return this.closeCall(mode, at, end, calls);
      // The marker may be inside an argument.
      mode.tail = mode.tail.slice(found.at + found.length);
    }
  }

  private bodyOf(
    { marker, raw }: Extract<SeparatorMode, { kind: 'call' }>,
    at: number,
    end: number,
  ): string {
    return raw.slice(marker.keepsOpen ? 0 : marker.open.length, marker.keepsClose ? end : at);
  }

  private closeCall(
    mode: Extract<SeparatorMode, { kind: 'call' }>,
    at: number,
    end: number,
    calls: readonly TextToolCall[] | null,
  ): boolean {
    const { raw, isMarked } = mode;
    const closedBy = raw.slice(at, end).toLowerCase();
    const isNext = /^<\|(?:start|channel)\|>$/.test(closedBy) || closedBy === mode.marker.open;
    const block = raw.slice(0, end);
    this.mode = { kind: 'text' };
    if (calls === null ? !isMarked : !this.take(calls, block, isMarked)) {
      // The text was a sentence about a call.
      this.buffer = raw.slice(1) + this.buffer;
      this.addText(this.shown.add(raw.slice(0, 1)));
      return true;
    }
    const isEmpty = raw.slice(mode.marker.open.length, at).trim() === '';
    if (calls === null && !isEmpty)
      this.calls.push(createDroppedCall('unreadable', block, 'it cannot be read'));
    this.shown.hideHere();
    this.buffer = (isNext ? raw.slice(at) : raw.slice(end)) + this.buffer;
    return true;
  }

  /** Keeps the calls until the end of the answer. Returns false if they are plain text. */
  private take(calls: readonly TextToolCall[], raw: string, isMarked: boolean): boolean {
    const pieces = coerceBlockCalls(calls, raw, isMarked, this.options);
    this.calls.push(...(pieces ?? []));
    return pieces !== null;
  }

  /** An answer that consists only of a call of an offered tool, without markers. */
  private stepBare(): boolean {
    const state = classifyUnmarkedCall(this.buffer, this.options.offered, this.ended);
    if (state === 'hold') return false;
    this.mode = { kind: 'text' };
    if (state !== 'text' && this.take(state.calls, this.buffer, false)) {
      this.buffer = '';
      this.shown.hideHere();
    }
    return true;
  }

  // ---- the end

  private finish(): readonly SeparatedPiece[] {
    const { mode } = this;
    if (mode.kind === 'reasoning') this.finishReasoning(mode);
    else if (mode.kind === 'call') {
      const { raw } = mode;
      const calls = parseTextToolCalls(this.bodyOf(mode, raw.length, raw.length));
      const end =
        calls === null ? findFirstMarker(raw, mode.marker.close, mode.marker.open.length) : null;
      this.closeCall(
        mode,
        end?.at ?? raw.length,
        end === null ? raw.length : end.at + end.length,
        calls,
      );
    }
    const rest = this.advance();
    if (this.mode.kind === 'call' || this.mode.kind === 'reasoning')
      return [...rest, ...this.finish()];
    this.addText(this.shown.end());
    return [...rest, ...this.advance()];
  }

  /**
   * In reasoning without an end, the text stays hidden if the answer was cut off, and calls at the
   * end of the text count.
   */
  private finishReasoning({
    marker,
    raw,
    content,
    isFirst,
  }: Extract<SeparatorMode, { kind: 'reasoning' }>): void {
    this.mode = { kind: 'text' };
    if (marker.needsClose === true || (!isFirst && marker.where === 'line' && !this.wasCut)) {
      this.addText(this.shown.add(raw + content + this.buffer));
      this.buffer = '';
      return;
    }
    this.addReasoning(this.buffer);
    const all = content + this.buffer;
    this.buffer = '';
    const at = CALL_LINE.exec(all)?.index;
    if (at === undefined) return;
    const inner = new AnswerSeparator({ ...this.options, start: 'text' });
    const pieces = [...inner.push(all.slice(at)), ...inner.end(this.wasCut)];
    if (pieces.every(({ kind }) => kind === 'call')) this.calls.push(...pieces);
  }
}

const NO_MARKER: Marker = { kind: 'reasoning', open: '', close: [], where: 'anywhere' };
