import type { Clock } from '@parley/contracts';
import { PROCESS_GONE_AFTER_MS, type RunningProcess, type Store } from '@parley/store';

/** Entries of each list; the totals tell whether there are more. */
const SHOWN = 50;

/** What waits, runs and is still to be sent, and what was given up, for the page (U03). */
export async function lookAtQueue(
  store: Pick<Store, 'backlog' | 'outbox' | 'deadLetters' | 'processes'>,
  clock: Clock,
): Promise<object> {
  const now = clock();
  const [backlog, parts, dead, processes] = await Promise.all([
    store.backlog.look(SHOWN),
    store.outbox.counts(),
    store.deadLetters.counts(),
    store.processes.list(now - PROCESS_GONE_AFTER_MS),
  ]);
  const names = new Map(processes.map((process) => [process.id, nameOf(process)]));
  // Whoever has the database to itself does not announce itself.
  const other = processes.length === 0 ? 'this process' : 'a process that is gone';
  const running = backlog.running.map((turn) => ({
    ...turn,
    owner: turn.owner === null ? null : (names.get(turn.owner) ?? other),
  }));
  const shown = processes.slice(0, SHOWN).map(({ id: _id, ...process }) => process);
  return { now, ...backlog, running, parts, dead, processes: shown };
}

function nameOf({ host, pid }: RunningProcess): string {
  return `process ${pid} on ${host}`;
}
