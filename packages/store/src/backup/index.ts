export { copyDatabase } from './copy-database.ts';
export {
  createFromRows,
  prepareRestored,
  refuseUnknownMigrations,
} from './restore.ts';
export type { BackupRows, CellValue } from './rows.ts';
export type { HeldBack } from './settle-unfinished.ts';
export { copyToPostgres, refuseUsedPostgres } from './to-postgres.ts';
export { type CarryOverResult, carryOverFile } from './unfinished.ts';
