export {
  type StartSweep,
  startKeyedWork,
  startScheduler,
  startSweep,
} from './keyed-work.ts';
export {
  getStopReason,
  type LaneLease,
  type RunTurn,
  type StopReason,
} from './lane.ts';
export { startLaneWorker } from './lane-worker.ts';
export { type BusOptions, createLocalBus, type OpenLiveBus } from './local-bus.ts';
export { createWakeDelivery, openLiveBus, type WakeDelivery } from './open-bus.ts';
export type { RedisLocation } from './redis-location.ts';
export { openTurnQueue, TURNS, type WakeUpQueue } from './wake-up-queue.ts';
