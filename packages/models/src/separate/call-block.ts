import type { DropReason } from '../answer-parts.ts';
import { coerceCall } from '../calls/fit-call.ts';
import type { SeparatedPiece, SeparatorOptions } from './answer-piece.ts';
import type { TextToolCall } from './written-calls.ts';

/** The maximum length of a call that does not run and is kept, in characters. */
const MAX_KEPT = 2_000;

/**
 * Returns the calls in a block in the form that their tools accept, and the calls that do not run,
 * with the reason. Null if the block is plain text: a quotation from the request, or a sentence
 * about a tool that does not exist. `isMarked`: the block is at a position where only a call can
 * be.
 */
export function coerceBlockCalls(
  calls: readonly TextToolCall[],
  raw: string,
  isMarked: boolean,
  { offered, isQuoted }: Pick<SeparatorOptions, 'offered' | 'isQuoted'>,
): readonly SeparatedPiece[] | null {
  if (isQuoted(raw.trim())) return null;
  const fitted = calls.map((call) => ({ call, one: coerceCall({ id: '', ...call }, offered) }));
  if (!isMarked && fitted.some(({ one }) => one.kind === 'no-tool')) return null;
  return fitted.map(({ call, one }): SeparatedPiece => {
    if (one.kind === 'no-tool') return createDroppedCall('unknown-tool', raw, one.problem, call);
    if (one.kind === 'misfit') return createDroppedCall('misfit', raw, one.problem, call);
    const { name, arguments: given } = one.call;
    return { kind: 'call', call: { name, arguments: given }, raw };
  });
}

export function createDroppedCall(
  why: DropReason,
  raw: string,
  problem: string,
  call?: TextToolCall,
): SeparatedPiece {
  const kept = raw.slice(0, MAX_KEPT).toWellFormed();
  return { kind: 'dropped', why, raw: kept, problem, ...(call !== undefined && { call }) };
}
