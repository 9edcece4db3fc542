import type { ReplayChange, ReplayedAnswer, ReplayOutcome } from './outcome.ts';

// The page of the console contains this file, so it imports only types.

/** The worst outcomes come first, and within them the turns with the most differences. */
const SEVERITY: Readonly<Record<ReplayOutcome['kind'], number>> = {
  failed: 0,
  diverged: 1,
  changed: 2,
  incomplete: 3,
  same: 4,
};

export function compareSeverity(one: ReplayOutcome, other: ReplayOutcome): number {
  return (
    SEVERITY[one.kind] - SEVERITY[other.kind] || listChanges(other).length - listChanges(one).length
  );
}

/** The differences of an outcome; those of a turn that could not be replayed are unknown. */
export function listChanges(outcome: ReplayOutcome): readonly ReplayChange[] {
  return 'changes' in outcome ? outcome.changes : [];
}

/** A figure of an answer; undefined or null if it is unknown. */
export type AnswerFigure = (answer: ReplayedAnswer) => number | null | undefined;

export const countTokens: AnswerFigure = ({ usage }) =>
  usage === null ? null : usage.inputTokens + usage.outputTokens;

/** The sums of a figure over the turns in which it is known for both answers. */
export function sumBothSides(turns: readonly ReplayOutcome[], figureOf: AnswerFigure) {
  const sums = { before: 0, after: 0, turns: 0 };
  for (const turn of turns) {
    if (!('after' in turn) || turn.after === null) continue;
    const [before, after] = [figureOf(turn.before), figureOf(turn.after)];
    if (before == null || after == null) continue;
    sums.before += before;
    sums.after += after;
    sums.turns += 1;
  }
  return sums;
}
