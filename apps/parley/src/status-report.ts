import { type LocalTime, runWithTimeLimit } from '@parley/agent';
import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import {
  type GaugeReading,
  type LoopLagMonitor,
  startLoopLagMonitor,
} from '@parley/core/telemetry';
import type { AccountStatus, HealthReport } from '@parley/gateway';
import type { StatusReport } from '@parley/gateway/api';
import { TURNS, type WakeUpQueue } from '@parley/queue';
import { type RetentionRun, type RunningProcess, type Store, StoreError } from '@parley/store';
import type { DataFolder } from './data-folder.ts';

const DAY_MS = 24 * 60 * 60_000;

export async function createStatusReport(
  facts: Pick<
    StatusReport,
    'agent' | 'model' | 'dataFolder' | 'publicUrl' | 'plugins' | 'mcp' | 'settings' | 'self'
  >,
  store: Pick<
    Store,
    | 'turns'
    | 'backlog'
    | 'outbox'
    | 'deadLetters'
    | 'spend'
    | 'processes'
    | 'trouble'
    | 'retention'
    | 'state'
  >,
  clock: Clock,
  localTime: LocalTime,
): Promise<StatusReport> {
  try {
    const [turns, today, backlog, outbox, dead, processes, notes] = await Promise.all([
      store.turns.totals(clock() - DAY_MS),
      store.spend.day(localTime(clock()).date),
      store.backlog.read(1, clock()),
      store.outbox.counts(),
      store.deadLetters.counts(),
      store.processes.list(),
      listDatabaseNotes(store, clock(), { path: facts.dataFolder }),
    ]);
    const trouble = store.trouble()?.message;
    return {
      ...facts,
      ...(trouble !== undefined && { trouble }),
      ...(notes.length > 0 && { notes }),
      turns,
      today,
      waiting: {
        messages: backlog.messages,
        oldestMs: Math.max(0, clock() - (backlog.oldestAt ?? clock())),
      },
      outbox,
      dead,
      processes: await describeProcesses(processes),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...facts, trouble: reasonOf(error), processes: [] };
  }
}

/**
 * How long (ms) a rollback of the database is reported. Dead letters from the rollback remain after
 * that.
 */
const SETBACK_REPORTED_MS = 7 * DAY_MS;
/**
 * Retention that lags behind by more than this (ms) is reported. Regular sweeps are at most a day
 * apart.
 */
const HELD_REPORTED_MS = DAY_MS + 60 * 60_000;

async function listDatabaseNotes(
  store: Pick<Store, 'retention' | 'state'>,
  now: number,
  folder: Pick<DataFolder, 'path'>,
): Promise<readonly string[]> {
  const [setback, last] = await Promise.all([store.state.lastSetback(), store.retention.last()]);
  const notes: string[] = [];
  if (setback !== null && now - setback.at < SETBACK_REPORTED_MS) {
    const { describeRollback } = await import('./database-mark.ts');
    notes.push(describeRollback(setback, folder));
  }
  if (last !== null && now - last.countedTo > HELD_REPORTED_MS) {
    const from = new Date(last.countedTo).toISOString();
    notes.push(
      `Old rows are kept: the clocks, the newest row and the last round do not confirm that time has passed since ${from}, so the age of rows counts from then.`,
    );
  }
  return notes;
}

/** The module is loaded on demand, because most installations consist of a single process. */
async function describeProcesses(
  processes: readonly RunningProcess[],
): Promise<StatusReport['processes']> {
  if (processes.length === 0) return [];
  const { describeProcessDifferences } = await import('./deployment.ts');
  return [...describeProcessDifferences(processes)];
}

export interface GaugeDeps {
  readonly store: Pick<
    Store,
    'ping' | 'backlog' | 'deadLetters' | 'leases' | 'processes' | 'retention' | 'state'
  >;
  readonly turns: Pick<WakeUpQueue, 'depth'>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

export type ReadGauges = ReturnType<typeof openGauges>;

/** How long (ms) a scrape waits for the database and the queue. */
const TIMEOUT_MS = 2_000;
/** Real installations do not reach this limit. */
const MAX_ACCOUNTS = 100;

/**
 * Opens the gauges whose values are read at each scrape (D10). Values that are not available in
 * time are omitted and logged.
 */
export function openGauges(deps: GaugeDeps) {
  const lag = startLoopLagMonitor();
  return async (
    channels: readonly AccountStatus[],
    health: HealthReport,
  ): Promise<readonly GaugeReading[]> => {
    const read = await Promise.all([
      readGaugesOrSkip(deps, 'database', () => readDatabaseGauges(deps)),
      readGaugesOrSkip(deps, 'queue', () => readQueueGauges(deps)),
    ]);
    const ready = createSingleGauge('parley_ready', health.status === 'down' ? 0 : 1);
    return [ready, createChannelGauge(channels), ...createLagGauges(lag), ...read.flat()];
  };
}

async function readGaugesOrSkip(
  { log }: GaugeDeps,
  what: 'database' | 'queue',
  work: () => Promise<readonly GaugeReading[]>,
): Promise<readonly GaugeReading[]> {
  try {
    return await runWithTimeLimit({ ms: TIMEOUT_MS }, work);
  } catch (error) {
    log.warn({ what, reason: reasonOf(error) }, 'some gauges were left out of a scrape');
    return what === 'database' ? [createSingleGauge('parley_database_up', 0)] : [];
  }
}

function createSingleGauge(name: string, value: number): GaugeReading {
  return { name, values: [{ value }] };
}

function createChannelGauge(channels: readonly AccountStatus[]): GaugeReading {
  const values = channels.map(({ channel, account, state: { kind } }) => ({
    value: kind === 'connected' ? 1 : 0,
    labels: { channel, account, state: kind },
  }));
  return { name: 'parley_channel_up', values };
}

function createLagGauges(lag: LoopLagMonitor): readonly GaugeReading[] {
  const read = lag.read();
  if (read === null) return [];
  const values = Object.entries(read).map(([quantile, value]) => ({ value, labels: { quantile } }));
  return [{ name: 'parley_event_loop_lag_seconds', values }];
}

async function readDatabaseGauges({
  store,
  clock,
  monotonic,
}: GaugeDeps): Promise<readonly GaugeReading[]> {
  const asked = monotonic();
  await store.ping();
  const ping = (monotonic() - asked) / 1_000;
  const now = clock();
  const [backlog, dead, leases, processes, lastRound, setback] = await Promise.all([
    store.backlog.read(MAX_ACCOUNTS, now),
    store.deadLetters.counts(),
    store.leases.held(),
    store.processes.list(),
    store.retention.last(),
    store.state.lastSetback(),
  ]);
  const oldest = backlog.oldestAt ?? now;
  return [
    createSingleGauge('parley_database_up', 1),
    createSingleGauge('parley_retention_held_seconds', computeHeldSeconds(lastRound, now)),
    createSingleGauge('parley_database_rewinds', setback?.count ?? 0),
    createSingleGauge('parley_database_ping_seconds', ping),
    createSingleGauge('parley_inbox_waiting_messages', backlog.messages),
    createSingleGauge('parley_inbox_waiting_conversations', backlog.conversations),
    createSingleGauge('parley_inbox_oldest_seconds', Math.max(0, now - oldest) / 1_000),
    createSingleGauge('parley_turns_running', backlog.turns),
    ...createOutboxGauges(backlog.outgoing, now),
    createCountGauge('parley_dead_letters', 'kind', Object.entries(dead)),
    // The counts are grouped by the text before the colon, because the rest of
    // `account:telegram/default` names a chat account.
    createCountGauge(
      'parley_leases_held',
      'kind',
      countByKind(leases.map(({ name }) => name.split(':')[0] ?? name)),
    ),
    createCountGauge('parley_processes', 'role', countByKind(processes.map(({ role }) => role))),
  ];
}

/** Returns how long (s) retention has been held back. Regular sweeps run every few minutes. */
function computeHeldSeconds(last: RetentionRun | null, now: number): number {
  return last === null ? 0 : Math.max(0, now - last.countedTo) / 1_000;
}

type OutgoingWork = Awaited<ReturnType<Store['backlog']['read']>>['outgoing'];

function createOutboxGauges(outgoing: OutgoingWork, now: number): readonly GaugeReading[] {
  const channels = [...Map.groupBy(outgoing, ({ channel }) => channel)];
  const parts = channels.flatMap(([channel, rows]) =>
    (['pending', 'sending'] as const).map((state) => ({
      value: rows.reduce((sum, row) => sum + row[state], 0),
      labels: { channel, state },
    })),
  );
  const oldest = channels.map(([channel, rows]) => {
    const since = Math.min(...rows.map(({ oldestAt }) => oldestAt));
    return { value: Math.max(0, now - since) / 1_000, labels: { channel } };
  });
  return [
    { name: 'parley_outbox_parts', values: parts },
    { name: 'parley_outbox_oldest_seconds', values: oldest },
  ];
}

async function readQueueGauges({ turns }: GaugeDeps): Promise<readonly GaugeReading[]> {
  const values = Object.entries(await turns.depth()).map(([state, value]) => ({
    value,
    labels: { queue: TURNS, state },
  }));
  return [{ name: 'parley_queue_jobs', values }];
}

function countByKind(kinds: readonly string[]): readonly (readonly [string, number])[] {
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]);
}

function createCountGauge(
  name: string,
  label: string,
  counts: readonly (readonly [string, number])[],
): GaugeReading {
  return { name, values: counts.map(([kind, value]) => ({ value, labels: { [label]: kind } })) };
}
