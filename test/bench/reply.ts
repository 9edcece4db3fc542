import {
  type BenchLoad,
  measureDistributed,
  renderDistributed,
  type ScaleTable,
} from './distributed.ts';
import { type IdleFigures, measureIdle, renderIdle } from './idle.ts';
import { formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';

// The cost of one reply for a gateway, a worker, PostgreSQL and Redis, and their cost while idle.

/** The model answers immediately, so that only Parley and its servers work. */
const LOAD: BenchLoad = {
  title: 'one worker',
  modelMs: 0,
  concurrency: undefined,
  chats: 50,
  topologies: [{ kind: 'roles', workers: 1 }],
};

export interface ReplyFigures {
  readonly tables: readonly ScaleTable[];
  readonly idle: readonly IdleFigures[];
}

/** Measures a gateway with one worker, under load and idle. */
export async function measureReply(rounds: BenchRounds): Promise<ReplyFigures> {
  const tables = await measureDistributed(rounds, [LOAD]);
  const idle = await measureIdle(rounds.stillMs, LOAD.topologies);
  return { tables, idle };
}

/** The printed tables, and whether the aims were met. */
export function renderReply({ tables, idle }: ReplyFigures): string {
  const scale = tables.flatMap(({ figures }) => figures).find(({ workers }) => workers === 1);
  const [still] = idle;
  const aim = (name: string, value: number | undefined, most: number) => {
    if (value === undefined) return [];
    return [[name, formatRounded(value), `≤ ${most}`, value <= most ? 'met' : 'MISSED']];
  };
  const cpuMs = scale && Object.values(scale.cpuMs).reduce((sum, one) => sum + one, 0);
  const aims = [
    ...aim('processor time of a reply in all, ms', cpuMs, 15),
    ...aim('statements of a reply', scale?.cost?.statements, 25),
    ...aim('transactions of a reply', scale?.cost?.transactions, 6),
    ...aim('transactions of a reply that write', scale?.cost?.writeTransactions, 6),
    ...aim('Redis commands of a reply', scale?.cost?.redisCommands, 60),
    ...aim('transactions a second, idle', still?.transactions, 2),
    ...aim('Redis commands a second, idle', still?.redisCommands, 8),
  ];
  const head = ['gateway + 1 worker', '', 'aim', ''];
  return [renderDistributed(tables), renderIdle(idle), renderTable([head, ...aims])].join('\n\n');
}
