import type { PartComparison, PromptComparison, TextPiece } from '@parley/prompt';
import { visible } from '../terminal/visible-text.ts';
import { count } from './prompt-text.ts';

/** Two prompts as text: what they share from the beginning on, and what differs, line by line. */
export function comparisonText(
  comparison: PromptComparison,
  options: { readonly full: boolean },
): string {
  const { before, after, prefix, share, parts } = comparison;
  const percent = (Math.floor(share * 1_000) / 10).toFixed(1);
  return [
    `first   ${count(before.characters)} characters, about ${count(before.tokens)} tokens`,
    `second  ${count(after.characters)} characters, about ${count(after.tokens)} tokens`,
    `shared  the first ${count(prefix.characters)} characters (${count(prefix.bytes)} bytes), about ${count(prefix.tokens)} tokens: ${percent} % of the second`,
    '',
    ...parts.flatMap((part, index) => partLines(part, endsHere(parts, index), options.full)),
  ].join('\n');
}

/** The first part that is not in the shared beginning to its end. */
function endsHere(parts: readonly PartComparison[], index: number): boolean {
  return parts.findIndex((part) => part.shared < lengthOf(part)) === index;
}

function lengthOf({ change, pieces }: PartComparison): number {
  const without = change === 'removed' ? 'added' : 'removed';
  return pieces.reduce((sum, { kind, text }) => sum + (kind === without ? 0 : text.length), 0);
}

function partLines(part: PartComparison, isEnd: boolean, full: boolean): string[] {
  const { layer, change, pieces, shared } = part;
  const end = isEnd ? `   ◄ the shared beginning ends here, after ${count(shared)} characters` : '';
  const lines = full ? pieces.flatMap((piece) => marked(piece)) : changesOf(pieces);
  return [`${SIGNS[change]} ${visible(layer)}${end}`, ...(change === 'same' && !full ? [] : lines)];
}

const SIGNS: Readonly<Record<PartComparison['change'], string>> = {
  same: '=',
  changed: '~',
  added: '+',
  removed: '-',
};
const MARKS: Readonly<Record<TextPiece['kind'], string>> = { same: ' ', removed: '-', added: '+' };

function marked({ kind, text }: TextPiece): string[] {
  const lines = visible(text).replace(/\n$/, '').split('\n');
  return lines.map((line) => `    ${MARKS[kind]} ${line}`);
}

/** What is the same is told by its length. */
function changesOf(pieces: readonly TextPiece[]): string[] {
  return pieces.flatMap((piece) => {
    if (piece.kind !== 'same') return marked(piece);
    const lines = marked(piece).length;
    return [`      … ${lines === 1 ? 'one line' : `${count(lines)} lines`} the same`];
  });
}
