import { type Clock, defineReadOperation } from '@parley/core';
import type { RunningProcess, Store } from '@parley/store';

interface QueueOperationDeps {
  readonly store: Pick<Store, 'backlog' | 'outbox' | 'deadLetters' | 'processes'>;
  readonly clock: Clock;
}

export const operations = {
  report: defineReadOperation(
    'Show waiting, running, unsent and failed work; only owners see chats',
    {},
    async ({ store, clock }: QueueOperationDeps, _, { caller }) => {
      const report = await readQueue(store, clock());
      return caller.role === 'owner' ? report : reduceToAccounts(report);
    },
    { role: 'operator' },
  ),
};

type QueueReport = Awaited<ReturnType<typeof readQueue>>;

/** Replaces each conversation with its account, such as `telegram:default`. */
function reduceToAccounts(report: QueueReport): QueueReport {
  const accountOnly = <One extends { readonly conversationId: string }>(one: One): One => ({
    ...one,
    conversationId: one.conversationId.split(':').slice(0, 2).join(':'),
  });
  const { waiting, running } = report;
  return { ...report, waiting: waiting.map(accountOnly), running: running.map(accountOnly) };
}

/** The maximum number of entries per list. The totals show whether there are more entries. */
const MAX_SHOWN = 50;

async function readQueue(store: QueueOperationDeps['store'], now: number) {
  const [backlog, parts, dead, processes] = await Promise.all([
    store.backlog.read(MAX_SHOWN, now),
    store.outbox.counts(),
    store.deadLetters.counts(),
    store.processes.list(),
  ]);
  const names = new Map(processes.map((process) => [process.id, formatProcessName(process)]));
  // The list does not include a process that does not share its database.
  const other = processes.length === 0 ? 'this process' : 'a process that is no longer running';
  const running = backlog.running.map((turn) => ({
    ...turn,
    owner: turn.owner === null ? null : (names.get(getProcessName(turn.owner)) ?? other),
  }));
  const shown = processes.slice(0, MAX_SHOWN).map(({ id: _id, ...process }) => process);
  return { now, ...backlog, running, parts, dead, processes: shown };
}

/**
 * When settings change, a process starts a new worker, which is named after the process with a
 * number at the end.
 */
function getProcessName(owner: string): string {
  return owner.replace(/\/\d+$/, '');
}

function formatProcessName({ host, pid }: RunningProcess): string {
  return `process ${pid} on ${host}`;
}
