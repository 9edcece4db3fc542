import type { Migration } from '../migrate.ts';

/**
 * Leases, processes, sessions and the last removal describe this moment only; a sign-in that was revoked must not come
 * back; the numbers of the steps belong to each database; the search index is built again.
 */
export const NOT_COPIED: ReadonlySet<string> = new Set([
  'lease',
  'process',
  'page_session',
  'sign_in',
  'retention_run',
  'store_state',
  'parley_migration',
  'search_entry',
  'search_reach',
]);

/** The tables that these migrations create, in their order: a table comes after those that its rows refer to. */
export function tablesOf(migrations: readonly Migration[]): readonly string[] {
  return migrations.flatMap((migration) =>
    migration
      .statements('postgres')
      .flatMap((statement) => /^create table (\w+)/.exec(statement.trim())?.[1] ?? []),
  );
}

/** A name within a query. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
