import type { RunMark, TextRun } from '../document.ts';
import { findCommonMarks, joinEqualRuns } from '../transform/runs.ts';

/** Rewrites runs so that no mark except code begins or ends with whitespace. */
export function moveSpaceOutside(runs: readonly TextRun[]): TextRun[] {
  const cut = runs.flatMap(splitSurroundingSpace);
  if (!cut.some(isSpaceRun)) return joinEqualRuns(cut);
  return joinEqualRuns(restrictSpaceMarks(restrictSpaceMarks(cut).toReversed()).toReversed());
}

export function isCodeRun({ marks }: TextRun): boolean {
  return marks.some(({ type }) => type === 'code');
}

/** Whitespace keeps only the marks of the text before it. */
function restrictSpaceMarks(runs: readonly TextRun[]): TextRun[] {
  let before: readonly RunMark[] = [];
  return runs.map((run) => {
    const marks = isSpaceRun(run) ? findCommonMarks(run.marks, before) : run.marks;
    before = marks;
    return marks === run.marks ? run : { ...run, marks };
  });
}

function splitSurroundingSpace(run: TextRun): TextRun | TextRun[] {
  if (run.marks.length === 0 || isCodeRun(run)) return run;
  const core = run.text.trim();
  if (core === run.text || core === '') return [run];
  const from = run.text.indexOf(core);
  const texts = [run.text.slice(0, from), core, run.text.slice(from + core.length)];
  return texts.filter((text) => text !== '').map((text) => ({ ...run, text }));
}

function isSpaceRun(run: TextRun): boolean {
  return !isCodeRun(run) && run.text.trim() === '';
}
