/**
 * How many characters of a line are kept, which is enough to recognize where code starts and ends.
 */
const MAX_LINE = 2_000;

/** The shown text of an answer, reduced to the state that decides whether a marker counts. */
export class VisibleTextState {
  /** The current line so far. */
  line = '';
  private text = '';
  private fence: string | null = null;
  private hidden = false;
  /** Whitespace that is shown once something visible follows. */
  private gap = '';

  /** Whether nothing visible has been shown. */
  get isEmpty(): boolean {
    return this.text === '';
  }

  get isLineStart(): boolean {
    return this.line.trim() === '';
  }

  /** Whether the last part was hidden. */
  get isBehindHidden(): boolean {
    return this.hidden && this.isLineStart;
  }

  get isSentenceEnd(): boolean {
    return /[.!?…。！？]["'”’»)]?\s*$/.test(this.line);
  }

  get isInFence(): boolean {
    return this.fence !== null;
  }

  get isQuotedLine(): boolean {
    return /^\s*>/.test(this.line);
  }

  /** Whether the text so far mentions a tag of this kind, so that it is about tags. */
  mentions(tag: string): boolean {
    return this.text.toLowerCase().includes(tag);
  }

  get lastSign(): string {
    return this.text.trimEnd().at(-1) ?? '';
  }

  /**
   * Adds text and returns the part of it to show now. Whitespace around a hidden part is not shown.
   */
  add(piece: string): string {
    this.follow(piece);
    if (this.text !== '' && !this.hidden) {
      this.text += piece;
      return piece;
    }
    const all = this.gap + piece;
    if (all.trim() === '') {
      this.gap = all;
      return '';
    }
    const out = this.hidden ? this.behindHidden(all) : all;
    this.gap = '';
    this.hidden = false;
    this.text += out;
    return out;
  }

  private behindHidden(all: string): string {
    const visible = all.trimStart();
    if (this.text === '' || /\s$/.test(this.text)) return visible;
    const gap = all.slice(0, all.length - visible.length);
    return (gap.includes('\n') ? gap : '\n\n') + visible;
  }

  /** Records a hidden part at this position, after which a new line starts. */
  hideHere(): void {
    this.hidden = true;
    this.gap = '';
    this.line = '';
  }

  /** Withdraws and returns all shown text. */
  restart(): string {
    const all = this.text;
    this.text = '';
    this.fence = null;
    this.hideHere();
    return all;
  }

  /** Returns the trailing whitespace if no part was hidden. */
  end(): string {
    const rest = this.hidden ? '' : this.gap;
    this.gap = '';
    return rest;
  }

  private follow(piece: string): void {
    const [first = '', ...rest] = piece.split('\n');
    this.extend(first);
    for (const line of rest) {
      this.endLine();
      this.extend(line);
    }
  }

  private extend(piece: string): void {
    if (this.line.length < MAX_LINE) this.line += piece.slice(0, MAX_LINE);
  }

  private endLine(): void {
    const [, marks = '', info = ''] =
      /^[\s>]*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(`{3,}|~{3,})(.*)$/.exec(this.line) ?? [];
    this.line = '';
    if (marks === '') return;
    if (this.fence === null) {
      // A line such as ```code``` is inline code.
      if (!(marks.startsWith('`') && info.includes('`'))) this.fence = marks;
    } else if (marks.startsWith(this.fence) && info.trim() === '') this.fence = null;
  }
}

/** Whether the end of a line is within inline code. */
export function isInInlineCode(line: string): boolean {
  let open = 0;
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === 0) open = run.length;
    else if (run.length === open) open = 0;
  }
  return open !== 0;
}

/**
 * Whether an end marker without a start marker ends reasoning. The marker ends reasoning if it is
 * alone on its line. It also ends reasoning at the end of a sentence or a line, unless the text has
 * named the start marker and is therefore about tags. In the middle of a sentence, in code and in
 * quotation marks it is only mentioned.
 */
export function decideReasoningEnd(
  shown: VisibleTextState,
  close: string,
  after: string,
  ended: boolean,
): 'yes' | 'no' | 'wait' {
  const { line } = shown;
  if (shown.isQuotedLine || isInInlineCode(line)) return 'no';
  if (after === '' && !ended) return 'wait';
  const isToken = !close.startsWith('</');
  if (!shown.isInFence && isToken) return 'yes';
  const [rest = ''] = after.split('\n', 1);
  const isLineEnd = rest.trim() === '';
  const isAlone = shown.isLineStart && isLineEnd;
  if (isAlone && !ended && !after.includes('\n') && after.trim() === '') return 'wait';
  const isNamed = shown.mentions(close.replace('/', ''));
  if (shown.isInFence) return isAlone && !isNamed ? 'yes' : 'no';
  if (isAlone) return 'yes';
  if (isNamed || /["'“‘«(]$/.test(line)) return 'no';
  if (shown.isLineStart) return 'yes';
  if (isLineEnd) return after.includes('\n') || ended ? 'yes' : 'wait';
  if (/[.!?…。！？:;)\]"”»]\s*$/.test(line)) return 'yes';
  // If it is joined to words on both sides, it is not part of a sentence.
  return /\S$/.test(line) && /^[\p{L}\p{N}*#]/u.test(rest) ? 'yes' : 'no';
}

/** Whether the text after an opening marker may be a call rather than prose about one. */
export function decideCallStart(open: string, rest: string, ended: boolean): 'yes' | 'no' | 'wait' {
  if (open.startsWith('<|') || open.startsWith('<｜') || open === '[tool_request]') return 'yes';
  if (open.endsWith('=')) {
    const name = /^\s*["']?[\w.:/-]{1,80}["']?\s*>/;
    if (name.test(rest)) return 'yes';
    const mayName = rest.length < 90 && /^\s*["']?[\w.:/-]{0,80}["']?\s*$/.test(rest);
    return mayName && !ended ? 'wait' : 'no';
  }
  if (/^\s*[{[<"'`]/.test(rest)) return 'yes';
  if (/^\s*[\w.:/-]{1,80}\s*(?:[({[<]|\n)/.test(rest)) return 'yes';
  const mayGoOn = rest.length < 200 && /^\s*[\w.:/-]{0,80}[ \t]*$/.test(rest);
  if (mayGoOn && !ended) return 'wait';
  return 'no';
}
