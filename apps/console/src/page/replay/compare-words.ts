import { diffSequence } from '@parley/prompt/compare-texts';

/** A part of one of two compared texts, and whether only this text has it. */
export interface TextRun {
  readonly text: string;
  readonly isOwn: boolean;
}

/** The runs of two texts; joined in order, those of a side form its text. */
export interface ComparedWords {
  readonly before: readonly TextRun[];
  readonly after: readonly TextRun[];
}

/** Compares two texts word by word, in any script. Differences in spaces alone do not count. */
export function compareWords(before: string, after: string): ComparedWords {
  const runs: { before: TextRun[]; after: TextRun[] } = { before: [], after: [] };
  const steps = diffSequence(splitWords(before), splitWords(after), (word) => word.trim());
  for (const step of steps) {
    const isOwn = step.kind !== 'same';
    if (step.kind !== 'added') append(runs.before, { text: step.before, isOwn });
    if (step.kind !== 'removed') append(runs.after, { text: step.after, isOwn });
  }
  return runs;
}

/** Splits a text into words and punctuation marks, each with the spaces that follow it. */
function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) {
    const last = words.at(-1);
    if (last !== undefined && segment.trim() === '') words[words.length - 1] = last + segment;
    else words.push(segment);
  }
  return words;
}

function append(runs: TextRun[], run: TextRun): void {
  const last = runs.at(-1);
  if (last?.isOwn !== run.isOwn) runs.push(run);
  else runs[runs.length - 1] = { ...last, text: last.text + run.text };
}
