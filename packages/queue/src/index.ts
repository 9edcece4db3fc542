export { type CollectFacts, collectPause } from './collect-pause.ts';
export { type LaneDeps, type RunTurn, runLane } from './lane.ts';
export { type LaneWorker, type LaneWorkerOptions, startLaneWorker } from './lane-worker.ts';
export { createLocalBus } from './local-bus.ts';
export { type BusOptions, type OpenBus, openBus } from './open-bus.ts';
export { QueueError } from './queue-error.ts';
export { openQueues, type Queues, type QueuesOptions } from './queues.ts';
export type { RedisPlace } from './redis-place.ts';
export {
  type Schedule,
  type Scheduler,
  type SchedulerOptions,
  startScheduler,
} from './scheduler.ts';
export { type StopReason, stopReasonOf } from './stop-reason.ts';
export { type Sweep, startSweep } from './sweep.ts';
export type { QueueDepth, WakeUpHandler, WakeUpQueue, WakeUpWorker } from './wake-up-queue.ts';
