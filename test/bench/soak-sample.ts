import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { type ByPart, type Installation, tokenOf } from './installation.ts';
import { openFiles, treeMemory } from './process-tree.ts';

/** How an installation is at a moment. */
export interface Sample {
  /** Since the beginning, in ms. */
  readonly atMs: number;
  /** Resident, and used by JavaScript, in MB; open files and sockets. By part. */
  readonly residentMb: ByPart;
  readonly heapMb: ByPart;
  readonly files: ByPart;
  readonly databaseMb: number;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

const MB = 1_048_576;

/** Looks at the processes, the database and its tables. */
export async function sampleOf(installation: Installation, atMs: number): Promise<Sample> {
  const { processes } = installation;
  const heaps = await Promise.all(
    processes.map((one) => heapOf(one.output(), tokenOf(installation))),
  );
  const byPart = (value: (pid: number, index: number) => number): ByPart =>
    Object.fromEntries(processes.map(({ part, pid }, index) => [part, value(pid, index)]));
  return {
    atMs,
    residentMb: byPart((pid) => treeMemory(pid).rss),
    heapMb: byPart((_pid, index) => heaps[index] ?? 0),
    files: byPart(openFiles),
    ...(await databaseOf(installation)),
  };
}

/** As the process tells it; what is garbage is in it. */
async function heapOf(output: string, token: string): Promise<number> {
  const address = /http:\/\/[\d.]+:\d+/.exec(output)?.[0] ?? '';
  const headers = { authorization: `Bearer ${token}` };
  const metrics = await (await fetch(`${address}/metrics`, { headers })).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1]) / MB;
}

async function databaseOf({
  data,
  servers,
}: Installation): Promise<Pick<Sample, 'databaseMb' | 'rows'>> {
  return servers === undefined ? embeddedRows(data) : serverRows(servers.postgresUrl);
}

function embeddedRows(data: string): Pick<Sample, 'databaseMb' | 'rows'> {
  const files = readdirSync(data).filter((name) => name.startsWith('parley.db'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
  const database = new DatabaseSync(join(data, 'parley.db'), { readOnly: true });
  try {
    const tables = database
      .prepare("select name from sqlite_schema where type = 'table' and sql like 'create table %'")
      .all()
      .map(({ name }) => String(name));
    const count = (table: string) =>
      Number(database.prepare(`select count(*) as rows from "${table}"`).get()?.rows);
    return { databaseMb: bytes / MB, rows: Object.fromEntries(tables.map((t) => [t, count(t)])) };
  } finally {
    database.close();
  }
}

async function serverRows(url: string): Promise<Pick<Sample, 'databaseMb' | 'rows'>> {
  const postgres = new Client({ connectionString: url });
  await postgres.connect();
  try {
    const { rows: tables } = await postgres.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    const rows: Record<string, number> = {};
    for (const { name } of tables) {
      const counted = await postgres.query<{ rows: string }>(
        `select count(*) as rows from "${name}"`,
      );
      rows[name] = Number(counted.rows[0]?.rows);
    }
    const size = await postgres.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    );
    return { databaseMb: Number(size.rows[0]?.bytes) / MB, rows };
  } finally {
    await postgres.end();
  }
}
