export { commitFate, refuseUnknownSteps, restoreStore } from './restore.ts';
export { openSnapshot, type StoreSnapshot } from './snapshot.ts';
export type { BackupRows, Cell } from './tables.ts';
export { type CarriedOver, carryOverFile } from './unfinished.ts';
