import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { BUSY_DAY, OWNER, TALKING_GROUP } from './day.ts';
import { startModelSide, startTelegramSide } from './doubles.ts';
import {
  type ByPart,
  type Installation,
  nameTopology,
  readPageToken,
  startInstallation,
  type Topology,
} from './installation.ts';
import { countOpenFiles, readTreeMemory } from './processes.ts';
import { computeSlope, formatRounded, renderTable } from './report.ts';
import { createSettings, withNewFolder } from './subjects.ts';

/** The results of a day on one deployment. */
export interface SoakFigures {
  readonly topology: string;
  readonly minutes: number;
  readonly samples: readonly SoakSample[];
}

const TOPOLOGIES: readonly Topology[] = [{ kind: 'embedded' }, { kind: 'roles', workers: 1 }];
const SAMPLE_MS = 30_000;
/** The last messages are answered before the last sample. */
const AFTERWARDS_MS = 10_000;
const MAIL = '## mail\n- every: 30 min\n- do: Look through new mail.\n';

/** Simulates a day of traffic within these minutes, on both deployments at the same time. */
export async function measureSoak({ minutes }: { minutes: number }): Promise<SoakFigures[]> {
  return Promise.all(TOPOLOGIES.map((topology) => measureTopology(topology, minutes)));
}

async function measureTopology(topology: Topology, minutes: number): Promise<SoakFigures> {
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const model = await startModelSide(50);
    opened.defer(model.close);
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const workspace = join(folder, 'data/workspace');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'HEARTBEAT.md'), MAIL);
    const settings = createBusySettings({ telegram, modelUrl: model.baseUrl });
    const installation = await startInstallation({ topology, folder, settings });
    opened.defer(installation.stop);
    await telegram.firstPoll();
    const day = Promise.all([
      telegram.day(minutes * 60_000),
      writeOnPage(installation, minutes * 60_000),
    ]);
    const samples = await collectSamples(installation, day);
    return { topology: nameTopology(topology), minutes, samples };
  });
}

function createBusySettings(where: Parameters<typeof createSettings>[0]): object {
  const settings = createSettings(where);
  const access = { direct: 'open', groups: 'allowlist', allowGroups: [TALKING_GROUP] };
  return {
    ...settings,
    owners: [`telegram:${OWNER}`],
    agent: { timeZone: 'UTC' },
    heartbeat: { quietHours: 'off', tokensPerDay: 100_000_000 },
    channels: { telegram: { ...settings.channels.telegram, access } },
  };
}

/** A person writes on the page all day. */
async function writeOnPage(installation: Installation, ms: number): Promise<void> {
  const [address = ''] =
    /http:\/\/[\d.]+:\d+/.exec(installation.processes[0]?.output() ?? '') ?? [];
  const headers = {
    authorization: `Bearer ${readPageToken(installation)}`,
    'content-type': 'application/json',
  };
  const messages = BUSY_DAY['messages on the page'];
  for (let number = 1; number <= messages; number += 1) {
    await pause(ms / messages);
    const body = JSON.stringify({ id: randomUUID(), text: `And on the page, number ${number}?` });
    const url = `${address}/channels/web/default/messages`;
    const { ok, status } = await fetch(url, { method: 'POST', headers, body });
    if (!ok) throw new Error(`The page was answered ${status}.`);
  }
}

/** Takes a sample every 30 s until the day is over, and one more a little later. */
async function collectSamples(
  installation: Installation,
  day: Promise<unknown>,
): Promise<SoakSample[]> {
  const samples: SoakSample[] = [];
  const started = performance.now();
  const look = async () => {
    samples.push(await takeSample(installation, performance.now() - started));
  };
  let over = false;
  const ended = day.finally(() => {
    over = true;
  });
  while (!over) {
    await Promise.race([ended, pause(SAMPLE_MS)]);
    await look();
  }
  await ended;
  await pause(AFTERWARDS_MS);
  await look();
  return samples;
}

/** Until this share of the run is over, a process is still warming up and filling its caches. */
const WARM_UP = 0.4;
/** The memory growth in a day, in MB, above which memory counts as growing. */
const FLAT_MB = 12;

/** Memory, files and tables over a day. */
export function renderSoak(figures: readonly SoakFigures[]): string {
  return figures
    .flatMap(({ topology, minutes, samples }) => [
      `${topology}: a day in ${minutes} minutes`,
      renderTimes(samples),
      renderTrend(samples, minutes),
      renderRows(samples),
    ])
    .join('\n\n');
}

/** About twelve of all samples, one per line. */
function renderTimes(samples: readonly SoakSample[]): string {
  const step = Math.max(1, Math.floor(samples.length / 12));
  const shown = samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
  const parts = Object.keys(samples[0]?.residentMb ?? {});
  const head = [
    'minute',
    ...parts.flatMap((part) => [`${part} MB`, 'heap', 'files']),
    'database MB',
  ];
  const rows = shown.map(({ atMs, residentMb, heapMb, files, databaseMb }) => [
    (atMs / 60_000).toFixed(1),
    ...parts.flatMap((part) => [
      (residentMb[part] ?? 0).toFixed(0),
      (heapMb[part] ?? 0).toFixed(0),
      String(files[part]),
    ]),
    formatRounded(databaseMb),
  ]);
  return renderTable([head, ...rows]);
}

/** A linear fit of the samples after the warm-up; hours are hours of the run. */
function renderTrend(samples: readonly SoakSample[], minutes: number): string {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP));
  const parts = Object.keys(samples[0]?.residentMb ?? {});
  const hours = settled.map(({ atMs }) => atMs / 3_600_000);
  const row = (name: string, value: (sample: SoakSample) => number): string[] => {
    const perHour = computeSlope(hours, settled.map(value));
    const perDay = (perHour * minutes) / 60;
    return [
      name,
      formatRounded(perHour),
      formatRounded(perDay),
      perDay <= FLAT_MB ? 'flat' : 'GROWS',
    ];
  };
  return renderTable([
    ['after the warm-up', 'MB an hour of the run', 'MB a day', ''],
    ...parts.flatMap((part) => [
      row(`${part}, resident`, ({ residentMb }) => residentMb[part] ?? 0),
      row(`${part}, heap`, ({ heapMb }) => heapMb[part] ?? 0),
    ]),
  ]);
}

/** The tables that have rows, and the tables that still grow in the second half. */
function renderRows(samples: readonly SoakSample[]): string {
  const last = samples.at(-1);
  const half = samples[Math.floor(samples.length / 2)];
  const rows = Object.entries(last?.rows ?? {})
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const atHalf = half?.rows[name] ?? 0;
      return [name, String(samples[0]?.rows[name] ?? 0), String(atHalf), String(count)];
    });
  return renderTable([['rows of table', 'at the start', 'at noon', 'after the day'], ...rows]);
}

/** The state of an installation at one moment. */
export interface SoakSample {
  /** The time since the start, in ms. */
  readonly atMs: number;
  /**
   * Resident memory, and memory used by JavaScript, in MB; open files and sockets. By component.
   */
  readonly residentMb: ByPart;
  readonly heapMb: ByPart;
  readonly files: ByPart;
  readonly databaseMb: number;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

const MB = 1_048_576;

/** Samples the processes, the database and its tables. */
export async function takeSample(installation: Installation, atMs: number): Promise<SoakSample> {
  const { processes } = installation;
  const heaps = await Promise.all(
    processes.map((one) => readHeap(one.output(), readPageToken(installation))),
  );
  const byPart = (value: (pid: number, index: number) => number): ByPart =>
    Object.fromEntries(processes.map(({ part, pid }, index) => [part, value(pid, index)]));
  return {
    atMs,
    residentMb: byPart((pid) => readTreeMemory(pid).rss),
    heapMb: byPart((_pid, index) => heaps[index] ?? 0),
    files: byPart(countOpenFiles),
    ...(await readDatabase(installation)),
  };
}

/** As reported by the process, including garbage. */
async function readHeap(output: string, token: string): Promise<number> {
  const address = /http:\/\/[\d.]+:\d+/.exec(output)?.[0] ?? '';
  const headers = { authorization: `Bearer ${token}` };
  const metrics = await (await fetch(`${address}/metrics`, { headers })).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1]) / MB;
}

async function readDatabase({
  data,
  servers,
}: Installation): Promise<Pick<SoakSample, 'databaseMb' | 'rows'>> {
  return servers === undefined ? readEmbeddedRows(data) : readServerRows(servers.postgresUrl);
}

function readEmbeddedRows(data: string): Pick<SoakSample, 'databaseMb' | 'rows'> {
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

async function readServerRows(url: string): Promise<Pick<SoakSample, 'databaseMb' | 'rows'>> {
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
