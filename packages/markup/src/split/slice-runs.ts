import type { Run } from '../document.ts';

/** The text of the first runs, at most `length` UTF-16 units of it. */
export function textWithin(runs: readonly Run[], length: number): string {
  let text = '';
  for (const run of runs) {
    if (text.length >= length) break;
    text += run.text.slice(0, length - text.length);
  }
  return text;
}

/** What stands before an offset, without white space at its end. */
export function runsBefore(runs: readonly Run[], at: number): Run[] {
  const { index, inside } = find(runs, at);
  const cut = runs[index];
  const head = runs.slice(0, index);
  if (cut !== undefined && inside > 0) head.push({ ...cut, text: cut.text.slice(0, inside) });
  const last = head.findLastIndex(hasText);
  return edited(head.slice(0, last + 1), last, (text) => text.trimEnd());
}

/** What stands after an offset, without white space at its beginning. */
export function runsAfter(runs: readonly Run[], at: number): Run[] {
  const { index, inside } = find(runs, at);
  const tail = edited(runs.slice(index), 0, (text) => text.slice(inside));
  const first = tail.findIndex(hasText);
  return first < 0 ? [] : edited(tail.slice(first), 0, (text) => text.trimStart());
}

/** The run an offset lies in, and the offset in it. */
function find(runs: readonly Run[], at: number): { index: number; inside: number } {
  let before = 0;
  for (const [index, { text }] of runs.entries()) {
    if (before + text.length > at) return { index, inside: at - before };
    before += text.length;
  }
  return { index: runs.length, inside: 0 };
}

function edited(runs: Run[], index: number, edit: (text: string) => string): Run[] {
  const run = runs[index];
  if (run !== undefined) runs[index] = { ...run, text: edit(run.text) };
  return runs;
}

function hasText({ text }: Run): boolean {
  return text.trim() !== '';
}
