import { setTimeout as sleep } from 'node:timers/promises';
import { formatLogLine } from '@parley/core/telemetry';
import type { LogQuery } from '@parley/gateway/api';
import type { CliContext } from '../cli.ts';
import { readStoredLog } from '../log-reader.ts';

export interface LogsFlags extends Pick<LogQuery, 'level' | 'channel' | 'text'> {
  readonly chat?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

/** How often (ms) the log is read in follow mode. */
const POLL_INTERVAL_MS = 500;
/** The maximum number of lines per read in follow mode. */
const MAX_LINES = 5_000;

/**
 * `parley logs` (U03): prints lines from the log in the data folder, oldest first. With `follow`,
 * the command continues until a signal ends it. With a limit of 0, the command does not print
 * existing lines, like `tail -n 0 -f`.
 */
export async function printLogs(
  { folder, print, json }: Pick<CliContext, 'folder' | 'print' | 'json'>,
  { chat: conversation, limit: first, follow, ...asked }: LogsFlags,
  signal?: AbortSignal,
): Promise<number> {
  let after: number | undefined;
  /** The printed lines with the latest timestamp. More lines with this timestamp may follow. */
  let printed = new Set<string>();
  for (;;) {
    const isFirst = after === undefined;
    // With a limit of 0, the newest line is still read, because it marks where the new lines begin.
    const limit = isFirst ? Math.max(first, 1) : MAX_LINES;
    const { lines, processes } = await readStoredLog(folder.logs, {
      ...{ ...asked, conversation, after, limit },
    });
    for (const { at, raw, process } of lines.toReversed()) {
      const key = `${process} ${raw}`;
      if (printed.has(key)) continue;
      if (at !== after) printed = new Set();
      after = at;
      printed.add(key);
      if (isFirst && first === 0) continue;
      const named = processes.length > 1 ? raw.replace('{', `{"process":"${process}",`) : raw;
      print(json ? named : formatLogLine(named).trimEnd());
    }
    if (!follow || signal?.aborted) return 0;
    after ??= 0;
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}
