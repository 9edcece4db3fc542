import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  readNpmStart,
  readPeakMemory,
  readTreeCpuMs,
  readTreeMemory,
  type StartedProcess,
  startProcess,
} from './processes.ts';
import { type ServerCounts, type Servers, startServers } from './servers.ts';
import { writeSettings } from './subjects.ts';

/** How an installation is distributed over processes. */
export type Topology =
  /** One process, SQLite and an in-memory queue. */
  | { readonly kind: 'embedded' }
  /** One process on PostgreSQL and Redis. */
  | { readonly kind: 'one-process' }
  /** A gateway and several workers on PostgreSQL and Redis. */
  | { readonly kind: 'roles'; readonly workers: number };

/** Cost by component of the installation. */
export type ByPart = Readonly<Record<string, number>>;

/** A running Parley with one or several processes. */
export interface Installation {
  readonly data: string;
  readonly processes: readonly (StartedProcess & { readonly part: string })[];
  readonly servers: Servers | undefined;
  /**
   * Processor time so far in ms, by component: `parley`, `gateway`, `workers`, `redis`, `postgres`.
   */
  cpuMs(): ByPart;
  /** Current resident memory in MB; with several workers, that of the largest worker. */
  residentMb(): ByPart;
  /** The peak resident memory of any process, in MB, without the servers. */
  peakMb(): number;
  counts(...of: Parameters<Servers['counts']>): Promise<ServerCounts | undefined>;
  stop(): Promise<void>;
}

/** The access token of the page; all processes of one data folder share it. */
export function readPageToken({ data }: Installation): string {
  return readFileSync(join(data, 'token'), 'utf8').trim();
}

/** The settings apply to all processes; addresses of the servers are added. */
export interface InstallationOptions {
  readonly topology: Topology;
  readonly folder: string;
  /** Where the data folder is created; by default in `folder`. */
  readonly dataIn?: string | undefined;
  readonly settings: object;
  readonly nodeArguments?: readonly string[];
  /** Inserts a proxy between Parley and its PostgreSQL. */
  readonly through?: (postgresUrl: string) => Promise<string>;
}

/** The name of a topology in tables. */
export function nameTopology(topology: Topology): string {
  if (topology.kind === 'embedded') return 'embedded';
  if (topology.kind === 'one-process') return 'one process, servers';
  return `gateway + ${topology.workers} worker${topology.workers === 1 ? '' : 's'}`;
}

/** Starts the servers and processes of a topology, and waits until all are ready. */
export async function startInstallation(wanted: InstallationOptions): Promise<Installation> {
  await using opened = new AsyncDisposableStack();
  const { topology, settings } = wanted;
  const servers = topology.kind === 'embedded' ? undefined : await startServers();
  opened.defer(async () => servers?.close());
  const data = writeSettings(wanted.dataIn ?? wanted.folder, {
    ...settings,
    ...(await createAddressSettings(wanted, servers)),
  });
  const processes: Installation['processes'][number][] = [];
  // Stops in reverse order, so that the process that answers stops after the one that receives.
  opened.defer(async () => void (await Promise.all(processes.map((one) => one.stop()))));
  for (const [index, part] of listParts(topology).entries()) {
    const started = startPart(wanted, data, part, index);
    processes.push({ ...started, part });
    await started.readyAt;
  }
  const everything = opened.move();
  return {
    data,
    processes,
    servers,
    cpuMs: () => sumBy(listPids(processes, servers), readTreeCpuMs, (a, b) => a + b),
    residentMb: () =>
      sumBy(listPids(processes, servers), (pid) => readTreeMemory(pid).pss, Math.max),
    peakMb: () => Math.max(...processes.map(({ pid }) => readPeakMemory(pid))),
    counts: async (of) => servers?.counts(of),
    stop: () => everything.disposeAsync(),
  };
}

async function createAddressSettings(
  wanted: InstallationOptions,
  servers: Servers | undefined,
): Promise<object> {
  if (servers === undefined) return {};
  const { postgresUrl, redisUrl } = servers;
  const { through = async (url: string) => url } = wanted;
  return { store: { url: await through(postgresUrl) }, queue: { url: redisUrl } };
}

function listParts(topology: Topology): string[] {
  if (topology.kind !== 'roles') return ['parley'];
  return ['gateway', ...Array.from({ length: topology.workers }, () => 'workers')];
}

const COMMAND: Readonly<Record<string, string>> = { gateway: 'gateway', workers: 'worker' };
/** Each command prints its address when it is ready. */
const READY: Readonly<Record<string, string>> = { gateway: 'http://', workers: 'http://' };

function startPart(
  wanted: InstallationOptions,
  data: string,
  part: string,
  index: number,
): StartedProcess {
  const { args: start } = readNpmStart();
  const command = COMMAND[part];
  const words = command === undefined ? start : [...start.slice(0, -1), command];
  return startProcess({
    name: `${part}-${index}`,
    folder: wanted.folder,
    args: [...(wanted.nodeArguments ?? []), ...words, '--data', data],
    readyLine: READY[part] ?? 'Parley is running',
  });
}

function listPids(
  processes: Installation['processes'],
  servers: Servers | undefined,
): readonly (readonly [string, number])[] {
  const own = processes.map(({ part, pid }) => [part, pid] as const);
  if (servers === undefined) return own;
  return [...own, ['redis', servers.redisPid], ['postgres', servers.postgresPid]];
}

function sumBy(
  pids: readonly (readonly [string, number])[],
  measure: (pid: number) => number,
  join: (a: number, b: number) => number,
): ByPart {
  const sums: Record<string, number> = {};
  for (const [part, pid] of pids) {
    const one = measure(pid);
    const before = sums[part];
    sums[part] = before === undefined ? one : join(before, one);
  }
  return sums;
}

/** The second reading minus the first. */
export function subtractParts(before: ByPart, after: ByPart): ByPart {
  return Object.fromEntries(
    Object.entries(after).map(([part, value]) => [part, value - (before[part] ?? 0)]),
  );
}

/** Waits until all processes are idle, because deferred startup work is finished. */
export async function waitUntilQuiet(installation: Installation, longestMs: number): Promise<void> {
  const until = performance.now() + longestMs;
  const total = () => Object.values(installation.cpuMs()).reduce((sum, one) => sum + one, 0);
  for (let before = total(); performance.now() < until; ) {
    await pause(500);
    const now = total();
    if (now - before < 30) return;
    before = now;
  }
}
