export { type KeepSoulDeps, keepSoul } from './keep-soul.ts';
export { startWorker, type WorkerOptions } from './start-worker.ts';
