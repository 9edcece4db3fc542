import type { LogQuery, LogReport } from '@parley/gateway/api';
import type { Store } from '@parley/store';
import { readStoredLog } from './log-reader.ts';
import { formatLogName } from './process-options.ts';

interface LogReportDeps {
  /** The path of the folder `logs` in the data folder. */
  readonly folder: string;
  readonly store: Pick<Store, 'conversations' | 'processes'>;
  readonly channels: readonly string[];
}

/**
 * The maximum number of conversations on a page whose names are looked up. Other conversations are
 * shown by their ids.
 */
const MAX_NAMES = 50;

/**
 * Reads the log lines stored in this data folder (U03) and adds the names of their conversations.
 */
export async function readLogReport(
  { folder, store, channels }: LogReportDeps,
  query: LogQuery,
): Promise<LogReport> {
  const { lines, next, processes } = await readStoredLog(folder, query);
  const ids = new Set(lines.flatMap(({ conversation }) => conversation ?? []));
  // The log must be readable while the database does not respond, because it is needed most in that
  // situation.
  const [titles, running] = await Promise.all([
    store.conversations.titles([...ids].slice(0, MAX_NAMES)).catch(() => new Map()),
    store.processes.list().catch(() => []),
  ]);
  return {
    lines: lines.map(({ raw: _, conversation: id, ...line }) => ({
      ...line,
      conversation: id === null ? null : { id, title: titles.get(id) ?? null },
    })),
    ...{ next, processes, channels },
    unreachable: running.map(formatLogName).filter((name) => !processes.includes(name)),
  };
}
