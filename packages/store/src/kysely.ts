import { createRequire } from 'node:module';

const kysely: typeof import('kysely') = createRequire(import.meta.url)('kysely');

/**
 * What is used of Kysely, in its CommonJS form: its 260 modules are there in half the time, and every
 * start waits for them. Types come from the package itself.
 */
export const {
  Kysely,
  PostgresDialect,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql: raw,
} = kysely;
