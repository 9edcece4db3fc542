import type { Mark, Run } from '../document.ts';

/** The same runs without line breaks at their beginning and end, which separate nothing. */
export function withoutOuterBreaks(all: readonly Run[]): Run[] {
  const runs = [...all];
  for (let first = runs[0]; first?.text.startsWith('\n'); first = runs[0]) {
    const text = first.text.replace(/^\n+/, '');
    runs.splice(0, 1, ...(text === '' ? [] : [{ ...first, text }]));
  }
  for (let last = runs.at(-1); last?.text.endsWith('\n'); last = runs.at(-1)) {
    const text = last.text.trimEnd();
    runs.splice(-1, 1, ...(text === '' ? [] : [{ ...last, text }]));
  }
  return runs;
}

/** Neighbours with the same marks become one run. */
export function joinEqual(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (run.text === '') continue;
    if (last !== undefined && sameMarks(last.marks, run.marks)) {
      joined[joined.length - 1] = { text: last.text + run.text, marks: last.marks };
    } else joined.push(run);
  }
  return joined;
}

function sameMarks(a: readonly Mark[], b: readonly Mark[]): boolean {
  return a.length === b.length && a.every((mark, index) => sameMark(mark, b[index]));
}

/** Two links are the same only if they are one link of the source. */
export function sameMark(a: Mark, b: Mark | undefined): boolean {
  return a === b || (a.type !== 'link' && a.type === b?.type);
}
