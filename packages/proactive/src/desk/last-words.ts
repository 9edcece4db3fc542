import type { BeatRun } from '@parley/store';
import type { Looking } from '../heartbeat/next-run.ts';
import type { StandingTask } from '../heartbeat/standing-task.ts';
import type { LastRun } from './heartbeat-report.ts';
import { momentWords } from './moment-words.ts';

/** Clocks of the file and of the table are read one after the other. */
const SAME_MS = 5_000;
/** As much of a reason as a telephone shows well, in characters. */
const LONGEST = 160;

/**
 * What came of the last run of a task.
 * @param lastRun when it last began by heartbeat-state.json (ms); later than the run of the table if
 * only its check was made.
 * @param run its newest run, if it is known still.
 */
export function lastWords(
  { check, tell }: Pick<StandingTask, 'check' | 'tell'>,
  lastRun: number | null,
  run: BeatRun | undefined,
  at: Looking,
): LastRun {
  if (lastRun !== null && lastRun > (run?.startedAt ?? 0) + SAME_MS) {
    const time = momentWords(lastRun, at.clock, at.now);
    if (check === undefined) return { state: 'noted', at: lastRun, words: time };
    return { state: 'nothing-new', at: lastRun, words: `${time}, nothing new to look at` };
  }
  if (run === undefined) return { state: 'never', at: null, words: 'never' };
  return { state: run.state, at: run.startedAt, words: runWords(run, tell, at) };
}

/** When a run began and what came of it, such as `14:00, nothing to tell`. */
export function runWords(run: BeatRun, tell: string | undefined, at: Looking): string {
  return `${momentWords(run.startedAt, at.clock, at.now)}, ${outcomeOf(run, tell, at)}`;
}

function outcomeOf(
  { state, reason, heldUntil }: BeatRun,
  tell: string | undefined,
  at: Looking,
): string {
  switch (state) {
    case 'running':
      return 'running now';
    case 'quiet':
      return 'nothing to tell';
    case 'alerted':
      return tell === undefined ? 'I told you' : `I told ${tell}`;
    case 'held':
      return heldUntil === null
        ? 'held until the quiet hours are over'
        : `held until ${momentWords(heldUntil, at.clock, at.now)}`;
    case 'repeated':
      return 'the same as before, so I did not tell it again';
    case 'unclear':
      return `an unclear answer, told to nobody${inBrackets(reason)}`;
    case 'failed':
      return `failed${inBrackets(reason)}; told to nobody`;
  }
}

function inBrackets(reason: string | null): string {
  return reason === null ? '' : ` (${reason.replace(/\s+/g, ' ').slice(0, LONGEST)})`;
}
