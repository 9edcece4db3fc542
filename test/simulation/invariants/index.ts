import type { MakeInvariant } from './invariant.ts';
import { endedByHolder, oneRunningTurn, risingEpoch } from './lanes.ts';
import { partsInOrder, partsOnce } from './parts.ts';
import { answersInOrder, nothingForgotten } from './questions.ts';
import { setbacksAreTrue } from './setbacks.ts';
import { survivesPowerCut } from './synced.ts';

/** The promises that every scene checks. */
export const INVARIANTS: readonly MakeInvariant[] = [
  oneRunningTurn,
  risingEpoch,
  endedByHolder,
  partsInOrder,
  partsOnce,
  answersInOrder,
  nothingForgotten,
  survivesPowerCut,
  setbacksAreTrue,
];
