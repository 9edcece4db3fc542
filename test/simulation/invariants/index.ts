import { answeredInTime } from './bounds.ts';
import type { MakeInvariant } from './invariant.ts';
import { oneRunningTurn, risingEpoch } from './lanes.ts';
import { partsInOrder, partsOnce } from './parts.ts';
import { answersInOrder, nothingForgotten } from './questions.ts';

/** The promises that every scene checks. */
export const INVARIANTS: readonly MakeInvariant[] = [
  oneRunningTurn,
  risingEpoch,
  partsInOrder,
  partsOnce,
  answersInOrder,
  nothingForgotten,
  answeredInTime,
];
