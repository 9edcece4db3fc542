import type { Run, TextLeaf } from '../document.ts';
import { codePointEnds, graphemeEnds } from './graphemes.ts';
import { largest } from './search.ts';

/** How good a place is for a cut; lower is better. Inside a link or code span all are worse. */
const RANK = { line: 0, sentence: 1, word: 2, character: 3 } as const;
const INSIDE_SPAN = 4;

interface Cut {
  readonly at: number;
  readonly rank: number;
}

/**
 * Cuts a paragraph: at a line or sentence end if one stands in the second half of what fits, else
 * between words, else between characters; inside a link or code span only if that alone is too long.
 * @param fits whether this head can be shown in the part.
 * @param window longest head worth looking at, in UTF-16 units.
 * @param mayWait whether the paragraph could start in the next part: then no word or link is broken.
 * @returns undefined if nothing of it should or can stand in this part.
 */
export function cutText(
  leaf: TextLeaf,
  fits: (head: TextLeaf) => boolean,
  window: number,
  mayWait: boolean,
): [TextLeaf, TextLeaf] | undefined {
  const text = leaf.runs.map((run) => run.text).join('');
  let best = bestCut(leaf, text, graphemeEnds(text, window), fits);
  if (mayWait && best !== undefined && best.rank >= RANK.character) return undefined;
  // Not even one character of what people see fits: it has to be broken.
  if (!mayWait) best ??= bestCut(leaf, text, codePointEnds(text, window), fits);
  return best === undefined ? undefined : [headOf(leaf, best.at), tailOf(leaf, best.at)];
}

function bestCut(
  leaf: TextLeaf,
  text: string,
  ends: readonly number[],
  fits: (head: TextLeaf) => boolean,
): Cut | undefined {
  const count = largest(ends.length, (n) => fits(headOf(leaf, ends[n - 1] ?? 0)));
  const most = ends[count - 1];
  if (most === undefined) return undefined;
  const spans = spanEnds(leaf.runs);
  let best: Cut | undefined;
  for (const at of ends.slice(0, count).reverse()) {
    // Below half the room only a way out of a link is worth a short part.
    if (at * 2 < most && best !== undefined && best.rank < INSIDE_SPAN) break;
    const rank = rankAt(text, at) + (spans(at) ? INSIDE_SPAN : 0);
    if (best === undefined || rank < best.rank) best = { at, rank };
    if (best.rank === RANK.line) break;
  }
  return best;
}

function rankAt(text: string, at: number): number {
  const before = text[at - 1] ?? '';
  const after = text[at] ?? '\n';
  if (before === '\n' || after === '\n') return RANK.line;
  if ('。！？'.includes(before)) return RANK.sentence;
  if (isSpace(before)) return '.!?…:'.includes(text[at - 2] ?? ' ') ? RANK.sentence : RANK.word;
  if (isSpace(after)) return '.!?…:'.includes(before) ? RANK.sentence : RANK.word;
  return RANK.character;
}

function isSpace(character: string): boolean {
  return character.trim() === '';
}

/** Tells whether an offset lies inside one link or one code span. */
function spanEnds(runs: readonly Run[]): (at: number) => boolean {
  const inside: { from: number; to: number }[] = [];
  let from = 0;
  let last: unknown;
  for (const { text, marks } of runs) {
    const span =
      marks.find(({ type }) => type === 'link') ?? marks.find(({ type }) => type === 'code');
    const open = inside.at(-1);
    if (span !== undefined && span === last && open !== undefined) open.to += text.length;
    else if (span !== undefined) inside.push({ from, to: from + text.length });
    last = span;
    from += text.length;
  }
  return (at) => inside.some((span) => span.from < at && at < span.to);
}

function headOf(leaf: TextLeaf, at: number): TextLeaf {
  return { ...leaf, runs: trimEnd(sliceRuns(leaf.runs, 0, at)) };
}

function tailOf(leaf: TextLeaf, at: number): TextLeaf {
  const runs = trimStart(sliceRuns(leaf.runs, at, Number.POSITIVE_INFINITY));
  return { ...leaf, runs, fresh: leaf.within.length };
}

function sliceRuns(runs: readonly Run[], start: number, end: number): Run[] {
  const out: Run[] = [];
  let offset = 0;
  for (const run of runs) {
    if (offset >= end) break;
    const text = run.text.slice(Math.max(0, start - offset), Math.max(0, end - offset));
    if (text !== '') out.push({ text, marks: run.marks });
    offset += run.text.length;
  }
  return out;
}

function trimStart(runs: readonly Run[]): Run[] {
  const first = runs.findIndex(({ text }) => text.trim() !== '');
  return runs
    .slice(first < 0 ? runs.length : first)
    .map((run, index) => (index === 0 ? { ...run, text: run.text.trimStart() } : run));
}

function trimEnd(runs: readonly Run[]): Run[] {
  const last = runs.findLastIndex(({ text }) => text.trim() !== '');
  return runs
    .slice(0, last + 1)
    .map((run, index) => (index === last ? { ...run, text: run.text.trimEnd() } : run));
}
