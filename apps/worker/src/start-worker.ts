import {
  type Compacting,
  createCompactor,
  createTurnRunner,
  type HeartbeatRunnerDeps,
  type TurnRunnerDeps,
  withHeartbeats,
  withSubAgents,
  withTraces,
  yesterdaySource,
} from '@parley/agent';
import type { BusyPolicy, NewId } from '@parley/contracts';
import {
  type LaneWorker,
  type Schedule,
  startLaneWorker,
  startScheduler,
  type WakeUpQueue,
  wakeDeliveryOn,
} from '@parley/queue';
import type { Store } from '@parley/store';
import { expireApprovals } from './expire-approvals.ts';

/** What a worker is started with. */
export interface WorkerOptions extends Omit<TurnRunnerDeps, 'store' | 'deliver'> {
  readonly store: Store;
  readonly turns: WakeUpQueue;
  readonly newId: NewId;
  /** Names this process in leases. */
  readonly owner: string;
  /** What becomes of messages that arrive during a turn. */
  readonly busy: BusyPolicy;
  /** Turns of different conversations at the same time; they mostly wait for models. */
  readonly concurrency: number;
  readonly collectPauseMs: number;
  /** What becomes of the answers to heartbeats. */
  readonly heartbeat: HeartbeatRunnerDeps['heartbeat'];
  /** What happens at its time, by name. */
  readonly schedules: ReadonlyMap<string, Schedule>;
  /** Hears what is about to be summed up. */
  readonly beforeCompact?: (compacting: Compacting) => Promise<void>;
}

const SWEEP_MS = 3_000;

/** Starts the process role that runs turns. */
export async function startWorker(options: WorkerOptions): Promise<LaneWorker> {
  const { store, turns, newId, owner, busy, concurrency, collectPauseMs, clock, log, bus } =
    options;
  const { localTime } = options.agent;
  const summing = { ...options, localTime, charge: summariesOn(options) };
  const compactor = createCompactor(summing);
  const yesterday = yesterdaySource(summing);
  const deps = {
    ...options,
    compactor,
    sources: [...options.sources, yesterday],
    deliver: wakeDeliveryOn(bus),
    wake: (conversationId: string) => turns.kick(conversationId),
  };
  const usual = withSubAgents(deps, createTurnRunner(deps));
  const runTurn = withTraces(deps, withHeartbeats(deps, usual));
  const worker = await startLaneWorker(
    { lanes: store.lanes, runTurn, busy, collectPauseMs, owner, clock, newId, log },
    { queue: turns, bus, concurrency, sweepMs: SWEEP_MS },
  );
  const expiring = expireApprovals(options);
  const { schedules } = options;
  const scheduler = startScheduler({ schedules, bus, clock, log });
  return {
    async close(graceMs) {
      await Promise.all([expiring.stop(), scheduler.close(graceMs)]);
      await worker.close(graceMs);
      await Promise.all([compactor.close(), yesterday.close()]);
    },
  };
}

/** Nobody asked for a summary, so it counts in the total of the day alone (G17). */
function summariesOn({ store, agent, clock }: Pick<WorkerOptions, 'store' | 'agent' | 'clock'>) {
  return (used: Parameters<Store['spend']['add']>[1]): Promise<void> => {
    const { date: day } = agent.localTime(clock());
    return store.spend.add({ day, personId: '', groupId: null }, used);
  };
}
