import { cpus } from 'node:os';
import type { ByPart } from './installation.ts';
import type { ScaleFigures, ScaleTable } from './measure-distributed.ts';
import { round, table } from './report.ts';

/** Replies, latency, processor time and memory of each topology, and what a reply is for the servers. */
export function renderDistributed(tables: readonly ScaleTable[]): string {
  return tables.map(renderOne).join('\n\n');
}

function renderOne({ load, figures }: ScaleTable): string {
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
      round(repliesPerSecond),
      workers === 0 ? '' : round(repliesPerSecond / workers),
      distributed ? `${(share * 100).toFixed(0)} %` : '',
      round(added.p50),
      round(added.p95),
      `${coresOf(figure).toFixed(2)} of ${cpus().length}`,
    ];
  });
  return [table([head, ...rows]), renderParts(figures), renderCosts(figures)].join('\n\n');
}

function coresOf({ cpuMs, repliesPerSecond }: ScaleFigures): number {
  return (sumOf(cpuMs) * repliesPerSecond) / 1_000;
}

function sumOf(parts: ByPart): number {
  return Object.values(parts).reduce((sum, one) => sum + one, 0);
}

/** Processor time of a reply and memory, by what spends it. */
function renderParts(figures: readonly ScaleFigures[]): string {
  const rows = figures.map(({ name, cpuMs, memoryMb }) => {
    const parts = Object.entries(cpuMs).map(([part, ms]) => `${part} ${round(ms)}`);
    const memory = Object.entries(memoryMb).map(([part, mb]) => `${part} ${mb.toFixed(0)}`);
    return [name, round(sumOf(cpuMs)), parts.join(', '), memory.join(', ')];
  });
  const head = ['processor time of a reply', 'ms', 'by part', 'MB (proportional, each)'];
  return table([head, ...rows]);
}

function renderCosts(figures: readonly ScaleFigures[]): string {
  const head = [
    'on the servers, a reply',
    'Redis commands',
    'transactions',
    'rows written',
    'log kB',
    'stored kB',
  ];
  const rows = figures.flatMap(({ name, cost }) => {
    if (cost === undefined) return [];
    const { redisCommands, transactions, rowsWritten, logBytes, databaseBytes } = cost;
    const kilobytes = (bytes: number) => round(bytes / 1_024);
    return [
      [
        name,
        round(redisCommands),
        round(transactions),
        round(rowsWritten),
        kilobytes(logBytes),
        kilobytes(databaseBytes),
      ],
    ];
  });
  return table([head, ...rows]);
}
