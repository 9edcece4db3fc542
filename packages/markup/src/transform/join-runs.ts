import type { Mark, Run } from '../document.ts';

/** The same runs without the blank lines at their beginning and end, which separate nothing. */
export function withoutOuterBreaks(all: readonly Run[]): Run[] {
  const text = all.map(shape).join('');
  // A line that shows something keeps the space it begins with.
  const from = /^\s*\n/.exec(text)?.[0].length ?? 0;
  const shown = text.trimEnd().length;
  const to = text.includes('\n', shown) ? shown : text.length;
  const runs: Run[] = [];
  let at = 0;
  for (const run of all) {
    const own = run.text.slice(Math.max(from - at, 0), Math.max(to - at, 0));
    at += run.text.length;
    if (own !== '') runs.push(own === run.text ? run : { ...run, text: own });
  }
  return runs;
}

/** Text in which only white space counts; that of code is shown. */
function shape({ text, marks }: Run): string {
  return marks.some(({ type }) => type === 'code') ? 'x'.repeat(text.length) : text;
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
