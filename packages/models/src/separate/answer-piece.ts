import type { DropReason } from '../answer-parts.ts';
import type { ModelTool } from '../chat-model.ts';
import type { AnswerStart } from './reasoning-habit.ts';
import type { TextToolCall } from './written-calls.ts';

/** A part of an answer; parts arrive in the order of the answer. */
export type SeparatedPiece =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** All text so far was reasoning, which follows as a reasoning part. */
  | { readonly kind: 'restart' }
  | { readonly kind: 'call'; readonly call: TextToolCall; readonly raw: string }
  /** A call in the text that does not run; `call` is absent if it could not be parsed. */
  | {
      readonly kind: 'dropped';
      readonly why: DropReason;
      readonly call?: TextToolCall;
      readonly raw: string;
      readonly problem: string;
    };

export interface SeparatorOptions {
  /** The tools offered in the request. */
  readonly offered: readonly ModelTool[];
  /**
   * Where this model's answers start. `inside`: nothing is shown until the reasoning has ended.
   * `unknown`: text is held back if its beginning sounds like reasoning.
   */
  readonly start: AnswerStart;
  /** True if unmarked JSON is the requested answer. */
  readonly wantsJson: boolean;
  /** Whether the request already contains this text; then a call in the text is a quotation. */
  readonly isQuoted: (text: string) => boolean;
  /**
   * The maximum length of a call that is buffered, in characters; a longer call is hidden and does
   * not run.
   */
  readonly maxCall: number;
}

/** Joins adjacent fragments of the same kind. */
export function joinAdjacentPieces(pieces: readonly SeparatedPiece[]): readonly SeparatedPiece[] {
  const out: SeparatedPiece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (
      (piece.kind === 'text' || piece.kind === 'reasoning') &&
      last?.kind === piece.kind &&
      'text' in last
    ) {
      out[out.length - 1] = { kind: piece.kind, text: last.text + piece.text };
    } else out.push(piece);
  }
  return out;
}
