export { copyDatabase } from './copy-database.ts';
export { createFromRows, prepareRestored, refuseUnknownSteps } from './restore.ts';
export type { BackupRows, Cell } from './rows.ts';
export type { HeldBack } from './settle-unfinished.ts';
export { copyToPostgres, refuseUsedPostgres } from './to-postgres.ts';
export { type CarriedOver, carryOverFile } from './unfinished.ts';
