import type { Mark, Run } from '../document.ts';
import { sameMark } from '../transform/join-runs.ts';

/** What a printer does with inline content. */
export interface RunVisitor {
  open(mark: Mark): void;
  close(mark: Mark): void;
  text(text: string): void;
}

/** Turns runs back into properly nested marks: closes what ends, innermost first, opens what begins. */
export function walkRuns(runs: readonly Run[], visitor: RunVisitor): void {
  const open: Mark[] = [];
  const closeDownTo = (depth: number) => {
    for (const mark of open.splice(depth).reverse()) visitor.close(mark);
  };
  for (const { text, marks } of runs) {
    let common = 0;
    while (common < open.length && isSame(open[common], marks[common])) common += 1;
    closeDownTo(common);
    for (const mark of marks.slice(common)) {
      visitor.open(mark);
      open.push(mark);
    }
    visitor.text(text);
  }
  closeDownTo(0);
}

function isSame(a: Mark | undefined, b: Mark | undefined): boolean {
  return a !== undefined && sameMark(a, b);
}
