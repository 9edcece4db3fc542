// `npx node test/upgrade/make.ts FOLDER`: creates a fixture with the Parley of this clone
// (README.md says when and how).
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { startParleyProcess } from '../e2e/parley-process.ts';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { startPostgres } from '../services/postgres.ts';
import type { ServiceStart } from '../services/provided.ts';
import { startRedis } from '../services/redis.ts';
import { type BusyParley, runParleyCommand } from './asked.ts';
import { dumpPostgres } from './dump-postgres.ts';
import { dumpSqlite } from './dump-sqlite.ts';
import { doEarlierWork, endQuietHours } from './earlier-work.ts';
import { copyGeneralized, type NameReplacements } from './general-names.ts';
import { beginWork, writeLastMessage } from './later-work.ts';
import { writeResolved } from './resolved-settings.ts';
import { findEmptyTables } from './sql-text.ts';
import { type FixtureWorld, openWorld } from './world.ts';

const HEARTBEAT = `# Heartbeat

## mail
- every: 120 min
- do: Look through new mail. Tell me of what cannot wait.

## calendar
- every: 120 min
- do: Look at the calendar. Tell me of what has moved.
`;

/** The database that a Parley uses while the fixture is made. */
interface FixtureDatabase {
  readonly name: 'sqlite' | 'postgres';
  /** The database's section of the settings. */
  readonly settings: string;
  /** Tables that Parley does not use with this database. */
  readonly unused: readonly string[];
  row(data: string, sql: string): ReturnType<BusyParley['row']>;
  dump(data: string): Promise<string> | string;
}

/** Lets Parley work on one database, kills it, and writes the remaining data into the fixture. */
async function createFixture(fixture: string, database: FixtureDatabase): Promise<void> {
  const world = await openWorld();
  const root = mkdtempSync(join(tmpdir(), 'parley-upgrade-'));
  const data = join(root, 'data');
  prepareFolder(fixture, data, world.fill(settingsOf(fixture)) + database.settings);
  const parley = await startParleyProcess(data);
  try {
    const file = join(data, 'parley.yaml');
    const edit: BusyParley['edit'] = (change) =>
      writeFileSync(file, change(readFileSync(file, 'utf8')));
    const row: BusyParley['row'] = (sql) => database.row(data, sql);
    const asked: BusyParley = { world, parley, data, row, edit };
    const earlier = await doEarlierWork(asked);
    await endQuietHours(asked);
    const later = await beginWork(asked);
    const backup = join(root, 'backup.tar.gz');
    if (database.name === 'sqlite') await runParleyCommand(asked, 'backup', backup);
    await writeLastMessage(asked);
    await parley.end('SIGKILL');
    const killedAt = Date.now();
    const rings = readFileSync(join(data, 'plugins/games/rings.txt'), 'utf8').trim().split('\n');
    const facts = { killedAt, ...earlier, ...later, rings };
    const folder = join(fixture, database.name);
    rmSync(folder, { recursive: true, force: true });
    const names = createReplacements(world, data);
    copyGeneralized(data, join(folder, 'data'), names);
    const sql = names.generalize(await database.dump(data));
    const empty = findEmptyTables(sql).filter((table) => !database.unused.includes(table));
    if (empty.length > 0) throw new Error(`Nothing is in ${empty.join(', ')}.`);
    writeFileSync(join(folder, 'database.sql.gz'), gzipSync(sql, { level: 9 }));
    writeFileSync(join(folder, 'made.json'), `${JSON.stringify(facts, null, 2)}\n`);
    if (database.name === 'sqlite') cpSync(backup, join(fixture, 'backup.tar.gz'));
  } catch (error) {
    process.stderr.write(`${parley.err()}\n`);
    throw error;
  } finally {
    await parley.end('SIGKILL');
    await world.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const settingsOf = (fixture: string) => readFileSync(join(fixture, 'running.yaml'), 'utf8');

/**
 * A data folder with the plugin, whose bell is jammed, and a workspace with tasks and a file to
 * send.
 */
function prepareFolder(fixture: string, data: string, settings: string): void {
  cpSync(join(fixture, 'plugins'), join(data, 'plugins'), { recursive: true });
  writeFileSync(join(data, 'plugins/games/jammed'), '');
  mkdirSync(join(data, 'workspace'));
  writeFileSync(join(data, 'workspace/HEARTBEAT.md'), HEARTBEAT);
  writeFileSync(join(data, 'workspace/chart.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
  writeFileSync(join(data, 'parley.yaml'), settings);
}

/** Names that are specific to this machine, and their replacements in the fixture. */
function createReplacements(
  { telegram, discord, model }: FixtureWorld,
  data: string,
): NameReplacements {
  const general = {
    [data]: '/srv/parley',
    [telegram.apiRoot]: 'http://telegram.invalid',
    [discord.apiRoot]: 'http://discord.invalid',
    [model.baseUrl]: 'http://model.invalid',
  };
  return {
    generalize: (text) =>
      Object.entries(general)
        .reduce((all, [name, instead]) => all.replaceAll(name, instead), text)
        .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:9')
        .replaceAll(new RegExp(`\\b${hostname()}\\b`, 'g'), 'machine'),
  };
}

const sqlite: FixtureDatabase = {
  name: 'sqlite',
  settings: '',
  unused: ['file_piece', 'process'],
  async row(data, sql) {
    const database = new DatabaseSync(join(data, 'parley.db'), { readOnly: true, timeout: 5_000 });
    try {
      return database.prepare(`${sql} limit 1`).get();
    } finally {
      database.close();
    }
  },
  dump: (data) => dumpSqlite(join(data, 'parley.db')),
};

async function createPostgresFixture(fixture: string): Promise<void> {
  const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
  const { url } = await createFreshDatabase(requireUrl(server));
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await createFixture(fixture, {
      name: 'postgres',
      settings: `store: { url: "${url}" }\nqueue: { url: "${requireUrl(redis)}", prefix: upgrade }\n`,
      unused: [],
      row: async (_data, sql) => (await client.query(`${sql} limit 1`)).rows[0],
      dump: () => dumpPostgres(url),
    });
  } finally {
    await client.end();
    for (const service of [server, redis]) if (service.state === 'ready') await service.stop();
  }
}

function requireUrl(service: ServiceStart): string {
  if (service.state !== 'ready') throw new Error(service.reason);
  return service.value;
}

const [folder = ''] = process.argv.slice(2);
const fixture = resolve(folder);
writeResolved(join(fixture, 'settings'));
await createFixture(fixture, sqlite);
await createPostgresFixture(fixture);
