import { diffSequence } from './diff-sequence.ts';

/** A piece of two texts: in both, in the first alone, or in the second alone. Whole lines, never empty. */
export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * Two texts line by line. `same` and `removed` in order are the first text, `same` and `added` the
 * second, character for character.
 */
export function compareTexts(before: string, after: string): readonly TextPiece[] {
  const steps = diffSequence(linesOf(before), linesOf(after), (line) => line);
  const pieces: { kind: TextPiece['kind']; text: string }[] = [];
  for (const step of steps) {
    const text = step.kind === 'added' ? step.after : step.before;
    const last = pieces.at(-1);
    if (last?.kind === step.kind) last.text += text;
    else pieces.push({ kind: step.kind, text });
  }
  return pieces;
}

/** How long the beginning is that two texts share, in characters; never half of a surrogate pair. */
export function sharedPrefix(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let shared = 0;
  while (shared < most && before.charCodeAt(shared) === after.charCodeAt(shared)) shared += 1;
  const last = before.charCodeAt(shared - 1);
  const splits = shared < Math.max(before.length, after.length) && last >= 0xd800 && last <= 0xdbff;
  return splits ? shared - 1 : shared;
}

/** With their ends, so that nothing is lost; an empty text has no lines. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
