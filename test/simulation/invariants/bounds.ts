import { answeredIn } from '../said.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * Within this time after the last fault every question that waits is answered, in ms: a model that says nothing is
 * given up after 15 s and asked again, and the turn may have to wait for a lease (15 s) and a sweep before.
 */
const LONGEST_WAIT_MS = 120_000;

/** Nothing waits longer than its bound once faults have ended (D13). */
export const answeredInTime: MakeInvariant = () => {
  const answered = new Map<string, number>();
  return {
    id: 'D13',
    afterStep: ({ at, changes }, simulation) => {
      for (const change of changes) {
        if (change.kind !== 'sent') continue;
        for (const question of answeredIn(simulation.shownPart(change.part)?.text ?? '')) {
          if (!answered.has(question)) answered.set(question, at);
        }
      }
      return [];
    },
    atEnd: ({ questions, calmSince }) =>
      questions.flatMap(({ text, at }) => {
        const waited = (answered.get(text) ?? 0) - Math.max(at, calmSince);
        if (waited <= LONGEST_WAIT_MS) return [];
        return [`${text} waited ${Math.round(waited / 1_000)} s after the last fault`];
      }),
  };
};
