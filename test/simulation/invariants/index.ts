import {
  accountsAreShared,
  everyAccountIsServed,
  oneGatewaySends,
  onlyHoldersMark,
} from './accounts.ts';
import { actsAreDone } from './acts.ts';
import type { MakeInvariant } from './invariant.ts';
import { oneRunningTurn, risingEpoch } from './lanes.ts';
import { partsInOrder, partsOnce } from './parts.ts';
import { answersInOrder, nothingForgotten } from './questions.ts';
import { agentIsTold, chatsAreApart, contextIsHeard } from './requests.ts';
import { changesCount } from './revisions.ts';
import {
  endsAreTold,
  foundIsSent,
  nothingToTheClosed,
  ratesAreKept,
  slowHoldsUpNobody,
  uncertainOnce,
} from './sends.ts';

/** The promises that every scene checks. */
export const INVARIANTS: readonly MakeInvariant[] = [
  oneRunningTurn,
  risingEpoch,
  partsInOrder,
  partsOnce,
  uncertainOnce,
  foundIsSent,
  endsAreTold,
  nothingToTheClosed,
  ratesAreKept,
  slowHoldsUpNobody,
  answersInOrder,
  nothingForgotten,
  agentIsTold,
  chatsAreApart,
  contextIsHeard,
  actsAreDone,
  changesCount,
  oneGatewaySends,
  onlyHoldersMark,
  everyAccountIsServed,
  accountsAreShared,
];
