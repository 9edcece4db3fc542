/**
 * Work that may crash its process: accepting a message, claiming what waits in a conversation,
 * running a turn. `key` is the message, the conversation or the turn.
 */
export interface CrashableWork {
  readonly kind: 'ingress' | 'claim' | 'turn';
  readonly key: string;
}

/**
 * How often work has crashed its process: `hangs` with a blocked event loop, `deaths` in any other
 * way.
 */
export interface CrashCounts {
  readonly hangs: number;
  readonly deaths: number;
}

/**
 * Records the work of this process, so that the next start knows which work crashed it. Each crash
 * counts as a failed attempt, and after a few of them the work is abandoned instead of crashing
 * every process that claims it.
 */
export interface WorkRecord {
  /** Records `work` until `task` has settled. */
  run<Result>(work: CrashableWork, task: () => Promise<Result>): Promise<Result>;
  /** Returns how often this work has crashed processes that shared this record. */
  endsOf(work: CrashableWork): CrashCounts;
}

/** A record that stores nothing, for tests and programs that do not start a process. */
export const noWorkRecord: WorkRecord = {
  run: (_work, task) => task(),
  endsOf: () => NO_ENDS,
};

export const NO_ENDS: CrashCounts = { hangs: 0, deaths: 0 };

/** A hang blocks the whole process for a long time, so work is abandoned after the second hang. */
const MAX_HANGS = 2;
/** After this many crashes of its process, the work is probably the cause. */
const MAX_DEATHS = 5;
/**
 * How often abandoning work with a notice may crash the process before the work is closed without a
 * notice.
 */
const MAX_FATAL_NOTICES = 5;

/**
 * Decides about work that has crashed its process before: `run` it; `give-up`, with a notice to its
 * chat; or `drop` it without a notice, because `give-up` has crashed the process as well.
 */
export function decideNextAttempt({ hangs, deaths }: CrashCounts): 'run' | 'give-up' | 'drop' {
  if (hangs > MAX_HANGS || deaths >= MAX_DEATHS + MAX_FATAL_NOTICES) return 'drop';
  return hangs >= MAX_HANGS || deaths >= MAX_DEATHS ? 'give-up' : 'run';
}

/** Explains to operators why work is abandoned. */
export function describeCrashes({ hangs, deaths }: CrashCounts): string {
  const hung = hangs === 1 ? 'once' : `${hangs} times`;
  if (hangs >= MAX_HANGS) return `it blocked the process ${hung}, until the watchdog ended it`;
  return `started ${deaths} times`;
}
