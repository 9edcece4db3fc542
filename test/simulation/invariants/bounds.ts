import type { TraceStep } from '../changes.ts';
import { findAnsweredQuestions } from '../said.ts';
import type { Simulation } from '../simulation.ts';
import { SLOW_MS } from '../world/sending.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * The time limit in ms for answering every open question after the last fault: a silent model is
 * abandoned after 15 s and asked again, and the turn may first have to wait for a lease (15 s) and
 * a sweep.
 */
const MAX_WAIT_MS = 120_000;

/** The time limit for answering a question without faults, in ms (D13). */
export function createAnswerTimeInvariant(longestMs: number): MakeInvariant {
  return () => {
    const answered = new Map<string, number>();
    return {
      id: 'D13',
      afterStep: (step, simulation) => {
        recordAnswers(answered, step, simulation);
        return [];
      },
      atEnd: ({ questions }) =>
        questions.flatMap(({ text, at, isWithdrawn }) => {
          const waited = (answered.get(text) ?? Number.POSITIVE_INFINITY) - at;
          if (isWithdrawn || waited <= longestMs) return [];
          return [`${text} waited ${Math.round(waited / 1_000)} s`];
        }),
    };
  };
}

/** Records when each question was first answered. */
function recordAnswers(
  answered: Map<string, number>,
  { at, changes }: TraceStep,
  simulation: Simulation,
): void {
  for (const change of changes) {
    if (change.kind !== 'sent') continue;
    for (const question of findAnsweredQuestions(simulation.shownPart(change.part)?.text ?? '')) {
      if (!answered.has(question)) answered.set(question, at);
    }
  }
}

/** No question waits longer than its limit once faults have ended (D13). */
export const answeredInTime: MakeInvariant = () => {
  const answered = new Map<string, number>();
  return {
    id: 'D13',
    afterStep: (step, simulation) => {
      recordAnswers(answered, step, simulation);
      return [];
    },
    atEnd: ({ questions, calmSince, platforms }) =>
      questions.flatMap(({ text, at, platform, chat }, nth) => {
        const waited = (answered.get(text) ?? 0) - Math.max(at, calmSince);
        const isSlow = platforms.get(platform)?.kind.slowChats?.includes(chat) === true;
        const before = questions.slice(0, nth).filter((one) => one.chat === chat).length;
        // The platform accepts the answers of a slow chat one by one.
        const longest = MAX_WAIT_MS + (isSlow ? before * SLOW_MS[1] : 0);
        if (waited <= longest) return [];
        return [`${text} waited ${Math.round(waited / 1_000)} s after the last fault`];
      }),
  };
};
