export { type KeyedWork, startKeyedWork, type WakeUpHandler } from './keyed-work.ts';
export {
  type CollectFacts,
  collectPause,
  type LaneDeps,
  type LaneLease,
  type RunTurn,
  runLane,
  type StopReason,
  stopReasonOf,
} from './lane.ts';
export { type LaneWorker, type LaneWorkerOptions, startLaneWorker } from './lane-worker.ts';
export {
  type BusOptions,
  createLocalBus,
  type OpenBus,
  openBus,
  type WakeDelivery,
  wakeDeliveryOn,
} from './open-bus.ts';
export { QueueError, type RedisPlace } from './redis-place.ts';
export {
  type Schedule,
  type Scheduler,
  type SchedulerOptions,
  type StartSweep,
  type Sweep,
  startScheduler,
  startSweep,
} from './scheduler.ts';
export {
  openTurnQueue,
  type QueueDepth,
  TURNS,
  type WakeUpQueue,
} from './wake-up-queue.ts';
