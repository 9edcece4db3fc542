export { commitFate, refuseUnknownSteps, restoreStore } from './restore.ts';
export type { BackupRows, Cell } from './snapshot.ts';
export { openSnapshot, type StoreSnapshot } from './snapshot.ts';
export { type CarriedOver, carryOverFile } from './unfinished.ts';
