import { createTurnRunner, type TurnRunnerDeps, withSubAgents } from '@parley/agent';
import type { NewId } from '@parley/contracts';
import { type LaneWorker, type Queues, startLaneWorker } from '@parley/queue';
import type { ClaimMode, Store } from '@parley/store';

/** What a worker is started with. */
export interface WorkerOptions extends Omit<TurnRunnerDeps, 'store' | 'deliver'> {
  readonly store: Store;
  readonly queues: Queues;
  readonly newId: NewId;
  /** Names this process in leases. */
  readonly owner: string;
  readonly mode: ClaimMode;
  readonly collectPauseMs: number;
}

/** Turns of different conversations that one worker runs at the same time; they mostly wait for models. */
const CONCURRENCY = 50;
const SWEEP_MS = 5_000;

/** Starts the process role that runs turns. */
export function startWorker(options: WorkerOptions): Promise<LaneWorker> {
  const { store, queues, newId, owner, mode, collectPauseMs, clock, log, bus } = options;
  const deps = {
    ...options,
    deliver: (channel: string, account: string, chatId: string) =>
      queues.deliveries(channel, account).kick(chatId),
    wake: (conversationId: string) => queues.lanes.kick(conversationId),
  };
  const runTurn = withSubAgents(deps, createTurnRunner(deps));
  return startLaneWorker(
    { lanes: store.lanes, runTurn, mode, collectPauseMs, owner, clock, newId, log },
    { queue: queues.lanes, bus, concurrency: CONCURRENCY, sweepMs: SWEEP_MS },
  );
}
