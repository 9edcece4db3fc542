import {
  type AgingDecision,
  DAYS_PER_DAY,
  decideAging,
  type Logger,
  resolveRecordedTime,
} from '@parley/core';
import { startSweep } from '@parley/queue';
import type { RetentionLimits } from '@parley/store';
import type { AgentsRuntime } from './agents-runtime.ts';
import { toRetentionAges } from './settings.ts';

const MINUTE_MS = 60_000;
/**
 * The pause after each step, as a multiple of the step's duration. It gives other work precedence.
 */
const SHARE_OF_OTHERS = 4;
const MIN_PAUSE_MS = 5;

type RetentionDeps = Pick<AgentsRuntime, 'processId' | 'loaded'> & {
  readonly shared: Pick<AgentsRuntime['shared'], 'clock' | 'monotonic' | 'log'> & {
    readonly store: Pick<AgentsRuntime['shared']['store'], 'retention' | 'leases'>;
  };
};

/**
 * Periodically removes old rows in small steps. In a deployment, only one process at a time does
 * this (D15). The returned function stops the sweeps. The first sweep is delayed, because adapters
 * that are still connecting may receive earlier messages again.
 */
export function startRetention({
  shared,
  processId: owner,
  loaded: { settings },
}: RetentionDeps): () => Promise<void> {
  const { store, clock, monotonic, log } = shared;
  const { everyMinutes, maxMegabytes } = settings.retention;
  const everyMs = everyMinutes * MINUTE_MS;
  const bytes = maxMegabytes === 'unlimited' ? Number.POSITIVE_INFINITY : maxMegabytes * 1e6;
  const bounds: RetentionLimits = { ages: toRetentionAges(settings), bytes };
  const report = createHoldReporter(log);
  let isFirst = true;
  let isEnding = false;
  let isTight = false;
  /** The time at which this process last finished a sweep, on the monotonic clock. */
  let endedAt: number | null = null;
  const round = async (isMine: () => boolean): Promise<void> => {
    const last = await store.retention.last();
    const measuredMs = endedAt === null ? null : monotonic() - endedAt;
    const witnesses = { ...(await store.retention.witnesses()), now: clock(), last, measuredMs };
    const seen = { ...witnesses, last: last && { at: last.endedAt, countedTo: last.countedTo } };
    const decision = decideAging(seen);
    if (last !== null) report(decision);
    const { removed, tookMs, cutoff } = await store.retention.run(bounds, {
      clock,
      countFrom: decision.countFrom,
      countedTo: resolveRecordedTime(seen),
      async pause(tookMs) {
        const ms = Math.max(MIN_PAUSE_MS, tookMs * SHARE_OF_OTHERS);
        await new Promise((resolve) => setTimeout(resolve, ms));
        return !isEnding && isMine();
      },
    });
    endedAt = monotonic();
    if (removed > 0) log.debug({ removed, tookMs }, 'old rows were removed');
    if (cutoff !== null && !isTight) {
      const olderThan = new Date(cutoff).toISOString();
      log.warn({ maxMegabytes, olderThan, removed }, TIGHT);
    }
    isTight = cutoff !== null;
  };
  const sweep = startSweep('retention', everyMs / 10, log, async () => {
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst) return;
    const since = clock() - ((await store.retention.last())?.endedAt ?? 0);
    const isMeasured = endedAt !== null && monotonic() - endedAt < everyMs;
    if (isMeasured || (since >= 0 && since < everyMs)) return;
    const { runWithLease } = await import('./shared-lock.ts');
    const lease = { leases: store.leases, name: 'retention', owner, clock, monotonic, log };
    await runWithLease(lease, ({ isMine }) => round(isMine));
  });
  return async () => {
    isEnding = true;
    await sweep.stop();
  };
}

const TIGHT = 'the database exceeds retention.maxMegabytes: the oldest rows are removed early';

/** Shorter lags (ms) are not reported, because the next sweeps catch up. */
const REPORTED_MS = 60 * MINUTE_MS;

/** Logs once for each reason why rows are kept, and once when removal resumes. */
function createHoldReporter(log: Logger): (decision: AgingDecision) => void {
  let reported: AgingDecision['heldBy'] = null;
  return ({ heldBy, heldMs, countFrom }) => {
    const now = heldMs < REPORTED_MS ? null : heldBy;
    if (now === reported) return;
    reported = now;
    if (now === null) {
      log.info({}, 'old rows are removed on schedule again');
      return;
    }
    const facts = { heldBy: now, agesCountFrom: new Date(countFrom).toISOString() };
    // A database to which nothing is written is not a fault, so this is logged as information only.
    log[now === 'newest' ? 'info' : 'warn'](facts, HELD_TEXT[now]);
  };
}

const HELD_TEXT = {
  'database-clock':
    "old rows are kept: this process's clock is ahead of the database's clock; synchronize both (NTP)",
  newest: 'old rows are kept: nothing was written for more than a day',
  'last-removal': `old rows are kept: too much time seems to have passed since the last round, so the clock may be wrong; removal catches up at ${DAYS_PER_DAY} days per day`,
} as const;
