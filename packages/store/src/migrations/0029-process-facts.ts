import type { Migration } from './migration.ts';

/** What a process says of its workspace, settings and clock, so that another one notices that they differ. */
export const PROCESS_FACTS: Migration = {
  number: 29,
  name: 'process facts',
  statements: () => ['alter table process add column facts text'],
};
