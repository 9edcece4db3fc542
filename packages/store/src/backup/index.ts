export { type CarriedOver, type CarryOrder, carryOverFile } from './carry-over.ts';
export type { ForgottenValues, HeldBack } from './hold-back.ts';
export {
  commitFate,
  type RestoredStore,
  refuseUnknownSteps,
  restoreStore,
  type StoreRestore,
} from './restore.ts';
export { openSnapshot, type StoreSnapshot } from './snapshot.ts';
export type { BackupRows, BackupSchema, BackupTable, Cell } from './tables.ts';
