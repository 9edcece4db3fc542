import { cpus } from 'node:os';
import { startModelSide, startTelegramSide, type TelegramSide } from './doubles.ts';
import {
  type ByPart,
  type Installation,
  nameTopology,
  startInstallation,
  subtractParts,
  type Topology,
} from './installation.ts';
import { readTreeCpuMs, readTreeMemory } from './processes.ts';
import { computeQuantile, formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import type { ServerCounts } from './servers.ts';
import { createSettings, startSubject, withNewFolder } from './subjects.ts';

/** The results of a topology under full and light load. */
export interface ScaleFigures {
  readonly name: string;
  /** Processes that run turns; 0 for the bare bot. */
  readonly workers: number;
  readonly repliesPerSecond: number;
  /** Processor time per reply, in ms, by component. */
  readonly cpuMs: ByPart;
  /** Proportional memory of one process of each component. */
  readonly memoryMb: ByPart;
  /** With four people at a time: ms from message to answer, minus the model's own time. */
  readonly added: { readonly p50: number; readonly p95: number };
  /** The cost of one reply on the servers. */
  readonly cost: ServerCounts | undefined;
}

/** One kind of load on the installations. */
export interface BenchLoad {
  readonly title: string;
  /** How long the model thinks, in ms. */
  readonly modelMs: number;
  /** Concurrent turns per worker; undefined for the default. */
  readonly concurrency: number | undefined;
  readonly chats: number;
  readonly topologies: readonly Topology[];
}

/** The results under one load. */
export interface ScaleTable {
  readonly load: BenchLoad;
  readonly figures: readonly ScaleFigures[];
}

const ALL: readonly Topology[] = [
  { kind: 'embedded' },
  { kind: 'one-process' },
  { kind: 'roles', workers: 1 },
  { kind: 'roles', workers: 2 },
  { kind: 'roles', workers: 4 },
];

/** With few concurrent turns, the model is the limit, not the machine. */
const LOADS: readonly BenchLoad[] = [
  { title: 'few turns at a time', modelMs: 200, concurrency: 8, chats: 100, topologies: ALL },
  { title: 'as installed', modelMs: 200, concurrency: undefined, chats: 200, topologies: ALL },
];

const WARM_UP_MS = 4_000;
const FEW = 4;

/** Measures every topology under every load, one after another, together with the bare bot. */
export async function measureDistributed(
  { loadMs }: Pick<BenchRounds, 'loadMs'>,
  loads: readonly BenchLoad[] = LOADS,
): Promise<ScaleTable[]> {
  const tables: ScaleTable[] = [];
  for (const load of loads) {
    const model = await startModelSide(load.modelMs);
    try {
      const figures = [await measureBare(load, model.baseUrl, loadMs)];
      for (const topology of load.topologies) {
        process.stderr.write(`  ${load.title}: ${nameTopology(topology)} …\n`);
        const found = await measureTopology(load, topology, model.baseUrl, loadMs);
        process.stderr.write(`  ${JSON.stringify(found)}\n`);
        figures.push(found);
      }
      tables.push({ load, figures });
    } finally {
      await model.close();
    }
  }
  return tables;
}

async function measureTopology(
  load: BenchLoad,
  topology: Topology,
  modelUrl: string,
  loadMs: number,
): Promise<ScaleFigures> {
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const { concurrency } = load;
    const lanes = concurrency === undefined ? {} : { lanes: { concurrency } };
    const settings = { ...createSettings({ telegram, modelUrl }), ...lanes };
    const installation = await startInstallation({ topology, folder, settings });
    opened.defer(installation.stop);
    await telegram.firstPoll();
    const workers = topology.kind === 'roles' ? topology.workers : 1;
    return {
      ...(await measureUnderLoad(load, installation, telegram, loadMs)),
      name: nameTopology(topology),
      workers,
    };
  });
}

async function measureUnderLoad(
  { chats, modelMs }: BenchLoad,
  installation: Installation,
  telegram: TelegramSide,
  loadMs: number,
): Promise<Omit<ScaleFigures, 'name' | 'workers'>> {
  await telegram.sideBySide(chats, Number.MAX_SAFE_INTEGER, WARM_UP_MS);
  const countsBefore = await installation.counts();
  const cpuBefore = installation.cpuMs();
  const { latencies, ms } = await telegram.sideBySide(chats, Number.MAX_SAFE_INTEGER, loadMs);
  const cpu = subtractParts(cpuBefore, installation.cpuMs());
  const counts = await installation.counts('up to here');
  const memoryMb = installation.residentMb();
  const few = await telegram.sideBySide(FEW, Number.MAX_SAFE_INTEGER, loadMs / 2);
  const each = (value: number) => value / latencies.length;
  const cost = countsBefore && counts && { ...counts };
  if (cost && countsBefore) {
    for (const key of KEYS) cost[key] = each(cost[key] - countsBefore[key]);
  }
  return {
    repliesPerSecond: (latencies.length * 1_000) / ms,
    cpuMs: Object.fromEntries(Object.entries(cpu).map(([part, value]) => [part, each(value)])),
    memoryMb,
    added: computeAddedLatency(few.latencies, modelMs),
    cost,
  };
}

const KEYS = [
  'redisCommands',
  'statements',
  'transactions',
  'writeTransactions',
  'rowsWritten',
  'logBytes',
  'databaseBytes',
] as const;

async function measureBare(
  load: BenchLoad,
  modelUrl: string,
  loadMs: number,
): Promise<ScaleFigures> {
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const subject = startSubject('bare', { folder, telegram, modelUrl });
    opened.defer(subject.stop);
    await subject.readyAt;
    await telegram.firstPoll();
    await telegram.sideBySide(load.chats, Number.MAX_SAFE_INTEGER, WARM_UP_MS);
    const before = readTreeCpuMs(subject.pid);
    const { latencies, ms } = await telegram.sideBySide(
      load.chats,
      Number.MAX_SAFE_INTEGER,
      loadMs,
    );
    const cpu = readTreeCpuMs(subject.pid) - before;
    const few = await telegram.sideBySide(FEW, Number.MAX_SAFE_INTEGER, loadMs / 2);
    return {
      name: 'bare telegraf',
      workers: 0,
      repliesPerSecond: (latencies.length * 1_000) / ms,
      cpuMs: { bot: cpu / latencies.length },
      memoryMb: { bot: readTreeMemory(subject.pid).pss },
      added: computeAddedLatency(few.latencies, load.modelMs),
      cost: undefined,
    };
  });
}

function computeAddedLatency(latencies: readonly number[], modelMs: number) {
  return {
    p50: computeQuantile(latencies, 0.5) - modelMs,
    p95: computeQuantile(latencies, 0.95) - modelMs,
  };
}

/**
 * Replies, latency, processor time and memory of each topology, and the cost of a reply on the
 * servers.
 */
export function renderDistributed(tables: readonly ScaleTable[]): string {
  return tables.map(renderLoad).join('\n\n');
}

function renderLoad({ load, figures }: ScaleTable): string {
  const { title, modelMs, concurrency, chats } = load;
  const turns = concurrency === undefined ? 'the default' : String(concurrency);
  const head = [
    `${title}: model ${modelMs} ms, ${chats} chats, turns at a time: ${turns}`,
    'replies/s',
    'each worker',
    'of one',
    '+ms p50',
    '+ms p95',
    'cores used',
  ];
  const one = figures.find(({ name }) => name === 'gateway + 1 worker')?.repliesPerSecond;
  const rows = figures.map((figure) => {
    const { name, repliesPerSecond, workers, added } = figure;
    const distributed = name.startsWith('gateway');
    const share = one === undefined ? Number.NaN : repliesPerSecond / workers / one;
    return [
      name,
      formatRounded(repliesPerSecond),
      workers === 0 ? '' : formatRounded(repliesPerSecond / workers),
      distributed ? `${(share * 100).toFixed(0)} %` : '',
      formatRounded(added.p50),
      formatRounded(added.p95),
      `${computeCores(figure).toFixed(2)} of ${cpus().length}`,
    ];
  });
  return [renderTable([head, ...rows]), renderParts(figures), renderCosts(figures)].join('\n\n');
}

function computeCores({ cpuMs, repliesPerSecond }: ScaleFigures): number {
  return (sumParts(cpuMs) * repliesPerSecond) / 1_000;
}

function sumParts(parts: ByPart): number {
  return Object.values(parts).reduce((sum, one) => sum + one, 0);
}

/** Processor time per reply and memory, by component. */
function renderParts(figures: readonly ScaleFigures[]): string {
  const rows = figures.map(({ name, cpuMs, memoryMb }) => {
    const parts = Object.entries(cpuMs).map(([part, ms]) => `${part} ${formatRounded(ms)}`);
    const memory = Object.entries(memoryMb).map(([part, mb]) => `${part} ${mb.toFixed(0)}`);
    return [name, formatRounded(sumParts(cpuMs)), parts.join(', '), memory.join(', ')];
  });
  const head = ['processor time of a reply', 'ms', 'by part', 'MB (proportional, each)'];
  return renderTable([head, ...rows]);
}

function renderCosts(figures: readonly ScaleFigures[]): string {
  const head = [
    'on the servers, a reply',
    'Redis commands',
    'statements',
    'transactions',
    'that write',
    'rows written',
    'log kB',
    'stored kB',
  ];
  const rows = figures.flatMap(({ name, cost }) => {
    if (cost === undefined) return [];
    const { redisCommands, statements, transactions, writeTransactions } = cost;
    const { rowsWritten, logBytes, databaseBytes } = cost;
    const kilobytes = (bytes: number) => formatRounded(bytes / 1_024);
    return [
      [
        name,
        formatRounded(redisCommands),
        formatRounded(statements),
        formatRounded(transactions),
        formatRounded(writeTransactions),
        formatRounded(rowsWritten),
        kilobytes(logBytes),
        kilobytes(databaseBytes),
      ],
    ];
  });
  return renderTable([head, ...rows]);
}
