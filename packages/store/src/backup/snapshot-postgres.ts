import type { Client } from 'pg';
import { z } from 'zod';
import { StoreError } from '../database.ts';
import { refuseUnknown } from '../migrate.ts';
import type { Migration } from '../migrations.ts';
import { numberTypes } from '../postgres/open-postgres.ts';
import { explainPostgresFailure } from '../postgres/postgres-failure.ts';
import type { StoreSnapshot } from './snapshot.ts';
import { type BackupTable, isCopied, quoted, selectAll, tablesOf } from './tables.ts';

const CONNECT_MS = 5_000;
/** For one statement, which may read a large table first; `end` of one that timed out destroys it. */
const QUERY_MS = 10 * 60_000;
/** Rows that are fetched at a time; one, where a row may hold a file. */
const ROWS = 200;

const Cells = z.array(
  z.array(z.union([z.string(), z.number(), z.instanceof(Uint8Array), z.null()])),
);
const Steps = z.array(z.object({ number: z.number(), parley_version: z.string() }));
const Columns = z.array(z.object({ name: z.string(), column: z.string(), type: z.string() }));

/** One transaction that sees one moment; it locks nothing that the running processes need. */
export async function snapshotOfPostgres(
  { url, name }: { readonly url: string; readonly name: string },
  migrations: readonly Migration[],
): Promise<StoreSnapshot> {
  const { Client, types } = await import('pg');
  const client = new Client({
    connectionString: url,
    application_name: 'parley backup',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    types: numberTypes(types),
  });
  // A connection that breaks makes the next query fail, which is explained.
  client.on('error', () => undefined);
  const explain = (thrown: unknown) => explainPostgresFailure(name, thrown);
  try {
    await client.connect();
    await client.query('begin isolation level repeatable read, read only');
    // What disk and network take between two queries is no reason to end the transaction.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const steps = await stepsOf(client, migrations, name);
    const { tables, withFiles } = await tablesIn(client, tablesOf(migrations));
    const counters = await countersOf(client, tables);
    return {
      dialect: 'postgres',
      steps,
      tables,
      counters,
      async *rows() {
        try {
          for (const table of tables) {
            yield* rowsOf(client, table, withFiles.has(table.name) ? 1 : ROWS);
          }
        } catch (reason) {
          throw explain(reason);
        }
      },
      [Symbol.asyncDispose]: () => client.end(),
    };
  } catch (reason) {
    await client.end().catch(() => undefined);
    throw explain(reason);
  }
}

async function stepsOf(client: Client, migrations: readonly Migration[], name: string) {
  const there = await client.query("select to_regclass('parley_migration') is not null as there");
  if (there.rows[0]?.there !== true) {
    throw new StoreError('store-missing', `There is no data of Parley in ${name}.`);
  }
  const { rows } = await client.query(
    'select number, parley_version from parley_migration order by number',
  );
  const steps = Steps.parse(rows);
  refuseUnknown(steps, migrations, name);
  return steps.map(({ number }) => number);
}

/** Other programs may have tables beside ours. */
async function tablesIn(client: Client, ours: readonly string[]) {
  const { rows } = await client.query(
    `select table_name as name, column_name as column, data_type as type
    from information_schema.columns where table_schema = current_schema() order by ordinal_position`,
  );
  const columns = Columns.parse(rows);
  const found = ours
    .filter(isCopied)
    .map((name): BackupTable => {
      const its = columns.filter((column) => column.name === name);
      return { name, columns: its.map(({ column }) => column) };
    })
    .filter((table) => table.columns.length > 0);
  const files = columns.filter(({ type }) => type === 'bytea').map(({ name }) => name);
  return { tables: found, withFiles: new Set(files) };
}

async function countersOf(client: Client, tables: readonly BackupTable[]) {
  const counters: Record<string, number> = {};
  for (const { name, columns } of tables) {
    if (!columns.includes('seq')) continue;
    const sequence = await client.query(`select pg_get_serial_sequence($1, 'seq') as name`, [
      quoted(name),
    ]);
    const { rows } = await client.query(
      `select case when is_called then last_value else 0 end as last from ${sequence.rows[0]?.name}`,
    );
    counters[name] = Number(rows[0]?.last);
  }
  return counters;
}

async function* rowsOf(client: Client, table: BackupTable, atATime: number) {
  await client.query(`declare copied no scroll cursor for ${selectAll(table)}`);
  for (;;) {
    const { rows } = await client.query({ text: `fetch ${atATime} from copied`, rowMode: 'array' });
    if (rows.length > 0) yield { table, rows: Cells.parse(rows) };
    if (rows.length < atATime) break;
  }
  await client.query('close copied');
}
