import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { z } from 'zod';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { createRedisPrefix } from '../services/fresh-redis-prefix.ts';
import { removeQuietHours } from './earlier-work.ts';
import type { FixtureWorld } from './world.ts';

/**
 * The time between the kill and the restart, in ms: long enough for a job to become due and for
 * leases and waits to expire, and short enough for Discord to recognize a message by its nonce.
 */
const LATER_MS = 60_000;

/**
 * Values that a fixture's database does not store in readable form; the codes are those of open
 * questions.
 */
const Made = z.object({
  killedAt: z.number(),
  viewer: z.string(),
  session: z.string(),
  answered: z.string(),
  refused: z.string(),
  approval: z.string(),
  choice: z.string(),
  rings: z.array(z.string()),
});

/** The code of the account that awaits confirmation, in the SQL of a fixture. */
const LINK_CODE = /^insert into link_code .* values \('(\w+)'/m;

/** An installation that was killed while working, ready to be started by the current Parley. */
export interface LeftWork {
  readonly data: string;
  readonly made: z.infer<typeof Made>;
  readonly storeUrl: string;
  readonly linkCode: string;
  /** The callers of the bell, in order. */
  rings(): readonly string[];
  remove(): Promise<void>;
}

/** The PostgreSQL and Redis servers. */
export interface ServerAddresses {
  readonly postgresUrl: string;
  readonly redisUrl: string;
}

/** The clock of an installation and its platforms: it starts some time after the kill. */
export function createClock(fixture: string, servers: ServerAddresses | null): () => number {
  const { killedAt } = readFixtureInfo(getFixtureFolder(fixture, servers));
  const opened = Date.now();
  return () => killedAt + LATER_MS + Date.now() - opened;
}

function getFixtureFolder(fixture: string, servers: ServerAddresses | null): string {
  return join(fixture, servers === null ? 'sqlite' : 'postgres');
}

function readFixtureInfo(folder: string): z.infer<typeof Made> {
  return Made.parse(JSON.parse(readFileSync(join(folder, 'made.json'), 'utf8')));
}

/**
 * Puts the installation of a fixture into its own folders and databases. `servers` is null for
 * SQLite.
 */
export async function openLeftWork(
  fixture: string,
  world: FixtureWorld,
  servers: ServerAddresses | null,
): Promise<LeftWork> {
  const folder = getFixtureFolder(fixture, servers);
  const data = mkdtempSync(join(tmpdir(), 'parley-upgrade-'));
  const made = readFixtureInfo(folder);
  copyFolder(join(folder, 'data'), data);
  cpSync(join(fixture, 'plugins'), join(data, 'plugins'), { recursive: true });
  const rings = join(data, 'plugins/games/rings.txt');
  writeFileSync(rings, made.rings.map((who) => `${who}\n`).join(''));
  const sql = gunzipSync(readFileSync(join(folder, 'database.sql.gz'))).toString('utf8');
  const { url, more, drop } = await loadDatabase(located(sql, data), data, servers);
  const settings = removeQuietHours(readFileSync(join(fixture, 'running.yaml'), 'utf8'));
  writeFileSync(join(data, 'parley.yaml'), world.fill(settings) + more);
  return {
    data,
    made,
    storeUrl: url,
    linkCode: LINK_CODE.exec(sql)?.[1] ?? '',
    rings: () => readFileSync(rings, 'utf8').trim().split('\n'),
    async remove() {
      await drop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** In the fixture, the data folder is `/srv/parley`. */
const located = (text: string, data: string) => text.replaceAll('/srv/parley', data);

/** Copies the data folder; paths in text files are replaced by the new one. */
function copyFolder(from: string, to: string, data = to): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, target, data);
    else if (readFileSync(source).includes('/srv/parley'))
      writeFileSync(target, located(readFileSync(source, 'utf8'), data), { mode: 0o600 });
    else copyFileSync(source, target);
  }
}

async function loadDatabase(sql: string, data: string, servers: ServerAddresses | null) {
  if (servers === null) {
    const file = join(data, 'parley.db');
    // SQLite's internal tables of the search index are otherwise write-protected.
    const database = new DatabaseSync(file, { defensive: false });
    database.exec(sql);
    database.close();
    return { url: `sqlite:${file}`, more: '', drop: async () => {} };
  }
  const { url, drop } = await createFreshDatabase(servers.postgresUrl);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
  const queue = `queue: { url: "${servers.redisUrl}", prefix: "${createRedisPrefix().slice(1, -1)}" }`;
  return { url, more: `store: { url: "${url}" }\n${queue}\n`, drop };
}
