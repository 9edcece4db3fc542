import { BEAT_ROUTINES } from '@parley/contracts';
import type { BeatTurn } from '@parley/store';
import { type Ending, GAVE_UP } from '../end-turn.ts';
import { DEFAULT_TURN_LIMITS } from '../loop/turn-loop.ts';
import { TimeUpError } from '../time-limit.ts';
import { maySpend } from '../turn-answer.ts';
import { MAX_ATTEMPTS, orWhy } from '../turn-runner.ts';
import { memoryUpkeep, type UpkeepEnd } from '../upkeep/memory-upkeep.ts';
import type { BeatRunnerDeps } from './beat-runner.ts';
import { type Beating, openBeat, untold } from './open-beat.ts';

/** Does the built-in work of a standing task (H07). It ends without a word to anybody. */
export async function routineBeat(
  deps: BeatRunnerDeps,
  beating: Beating,
  routine: string,
  signal: AbortSignal,
): Promise<BeatTurn | Ending> {
  const { turn, journal } = beating;
  const failed = (reason: string) =>
    untold(deps, beating, { state: 'failed', reason, usage: journal.answer?.usage ?? null });
  if (turn.attempts >= MAX_ATTEMPTS) return failed(`${GAVE_UP} (begun ${turn.attempts} times)`);
  if (!BEAT_ROUTINES.some((name) => name === routine)) {
    return failed(`HEARTBEAT.md runs "${routine}", and this version of Parley has no such routine`);
  }
  const end = await upkeepEnd(deps, beating, signal);
  if ('outcome' in end) return end;
  return 'words' in end ? failed(end.reason) : untold(deps, beating, end);
}

async function upkeepEnd(
  deps: BeatRunnerDeps,
  { run, turn, journal }: Beating,
  signal: AbortSignal,
) {
  const opened = await openBeat(deps, run, turn);
  const { tokens = DEFAULT_TURN_LIMITS.tokens } = await deps.heartbeat.limits(run);
  const upkeep = {
    view: opened.view,
    today: opened.facts.date,
    journal,
    tokens,
    maySpend: () => maySpend(deps, turn, opened, null),
  };
  return orWhy(() => inTime(() => memoryUpkeep(deps, upkeep, signal)), opened.reader, signal);
}

/** A model that takes too long is a failure of this run and none of the worker. */
async function inTime(work: () => Promise<UpkeepEnd | null>): Promise<UpkeepEnd | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TimeUpError)) throw error;
    return { state: 'failed', reason: `the model: ${error.message}`, usage: null };
  }
}
