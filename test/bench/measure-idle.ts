import { setTimeout as pause } from 'node:timers/promises';
import { inNewFolder } from './bench-room.ts';
import { startModelSide, startTelegramSide } from './doubles.ts';
import {
  type ByPart,
  difference,
  nameOf,
  startInstallation,
  type Topology,
  untilQuiet,
} from './installation.ts';
import { round, table } from './report.ts';
import { settingsFor } from './subject.ts';

/** What a deployment costs while nobody writes. */
export interface IdleFigures {
  readonly name: string;
  /** Processor time in seconds an hour, by part. */
  readonly cpuSeconds: ByPart;
  /** A second; absent where there are no servers. */
  readonly redisCommands: number | undefined;
  readonly transactions: number | undefined;
}

const TOPOLOGIES: readonly Topology[] = [
  { kind: 'embedded' },
  { kind: 'roles', workers: 1 },
  { kind: 'roles', workers: 4 },
];
/** What a start puts off takes about so long. */
const SETTLE_MS = 15_000;

/** Watches idle installations for `idleMs` each. */
export async function measureIdle(idleMs: number): Promise<IdleFigures[]> {
  const model = await startModelSide();
  const figures: IdleFigures[] = [];
  try {
    for (const topology of TOPOLOGIES) {
      process.stderr.write(`  idle: ${nameOf(topology)} …\n`);
      figures.push(await measureOne(topology, model.baseUrl, idleMs));
    }
  } finally {
    await model.close();
  }
  return figures;
}

async function measureOne(
  topology: Topology,
  modelUrl: string,
  idleMs: number,
): Promise<IdleFigures> {
  return inNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const settings = settingsFor({ telegram, modelUrl });
    const installation = await startInstallation({ topology, folder, settings });
    opened.defer(installation.stop);
    await telegram.firstPoll();
    await telegram.oneByOne(5);
    await untilQuiet(installation, SETTLE_MS);
    const countsBefore = await installation.counts();
    const cpuBefore = installation.cpuMs();
    const begun = performance.now();
    await pause(idleMs);
    const cpu = difference(cpuBefore, installation.cpuMs());
    const seconds = (performance.now() - begun) / 1_000;
    const counts = await installation.counts();
    const perSecond = (of: 'redisCommands' | 'transactions') =>
      counts && countsBefore && (counts[of] - countsBefore[of]) / seconds;
    const anHour = (ms: number) => (ms / 1_000 / seconds) * 3_600;
    return {
      name: nameOf(topology),
      cpuSeconds: Object.fromEntries(Object.entries(cpu).map(([part, ms]) => [part, anHour(ms)])),
      redisCommands: perSecond('redisCommands'),
      transactions: perSecond('transactions'),
    };
  });
}

/** What nobody’s writing costs, as a table for people. */
export function renderIdle(figures: readonly IdleFigures[]): string {
  const head = ['nobody writes', 'CPU s an hour', 'by part', 'Redis commands/s', 'transactions/s'];
  const rows = figures.map(({ name, cpuSeconds, redisCommands, transactions }) => [
    name,
    round(Object.values(cpuSeconds).reduce((sum, one) => sum + one, 0)),
    Object.entries(cpuSeconds)
      .map(([part, seconds]) => `${part} ${round(seconds)}`)
      .join(', '),
    redisCommands === undefined ? '' : round(redisCommands),
    transactions === undefined ? '' : round(transactions),
  ]);
  return table([head, ...rows]);
}
