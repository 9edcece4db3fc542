import {
  accountsAreShared,
  everyAccountIsServed,
  oneGatewaySends,
  onlyHoldersMark,
} from './accounts.ts';
import { actsAreDone } from './acts.ts';
import { answeredInTime } from './bounds.ts';
import type { MakeInvariant } from './invariant.ts';
import {
  claimedByItsTurn,
  endedByHolder,
  everythingEnds,
  leftEmpty,
  oneRunningTurn,
  risingEpoch,
} from './lanes.ts';
import {
  givenBackByTheirHolders,
  leasesAreRespected,
  takingRaisesEpoch,
  theLivingKeepTheirLanes,
} from './leases.ts';
import { allowedSteps } from './model.ts';
import { partsInOrder, partsOnce } from './parts.ts';
import { answersInOrder, nothingForgotten } from './questions.ts';
import { keysMakeCertain, sentIsKnown } from './receipts.ts';
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
import { setbacksAreTrue } from './setbacks.ts';
import { survivesPowerCut } from './synced.ts';

/** The promises that every scene checks. */
export const INVARIANTS: readonly MakeInvariant[] = [
  oneRunningTurn,
  risingEpoch,
  endedByHolder,
  claimedByItsTurn,
  leftEmpty,
  takingRaisesEpoch,
  leasesAreRespected,
  theLivingKeepTheirLanes,
  givenBackByTheirHolders,
  everythingEnds,
  partsInOrder,
  partsOnce,
  uncertainOnce,
  foundIsSent,
  sentIsKnown,
  keysMakeCertain,
  endsAreTold,
  nothingToTheClosed,
  ratesAreKept,
  slowHoldsUpNobody,
  answersInOrder,
  nothingForgotten,
  allowedSteps,
  agentIsTold,
  chatsAreApart,
  contextIsHeard,
  actsAreDone,
  changesCount,
  oneGatewaySends,
  onlyHoldersMark,
  everyAccountIsServed,
  accountsAreShared,
  survivesPowerCut,
  setbacksAreTrue,
  answeredInTime,
];

/**
 * Promises that fail for some seeds of the settled scenes although nobody has shown yet whether the
 * promise or Parley is wrong. Only runs that name their scenes check these promises.
 */
export const UNSETTLED: ReadonlySet<MakeInvariant> = new Set();
