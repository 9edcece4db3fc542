export { copyDatabase } from './copy-database.ts';
export { measureTables, readRecentMessages, type TableSize } from './inspect-copy.ts';
export { copyIntoOlderSchema, hasNewerSchema, mergeLog } from './older-schema.ts';
export {
  createDatabaseFromRows,
  prepareRestoredDatabase,
  refuseUnknownMigrations,
} from './restore.ts';
export type { BackupRows, CellValue } from './rows.ts';
export type { HeldWorkCounts } from './settle-unfinished.ts';
export { copyToPostgres, refuseNonEmptyPostgres } from './to-postgres.ts';
export { type CarryOverResult, carryOverFile } from './unfinished.ts';
