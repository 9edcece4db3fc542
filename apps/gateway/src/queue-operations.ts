import { type Clock, read } from '@parley/core';
import type { RunningProcess, Store } from '@parley/store';

interface QueueNeeds {
  readonly store: Pick<Store, 'backlog' | 'outbox' | 'deadLetters' | 'processes'>;
  readonly clock: Clock;
}

export const operations = {
  report: read(
    'Waiting, running, unsent and failed work; chats are shown to owners only',
    {},
    async ({ store, clock }: QueueNeeds, _, { caller }) => {
      const report = await readQueue(store, clock());
      return caller.role === 'owner' ? report : removeChats(report);
    },
    { role: 'operator' },
  ),
};

type QueueReport = Awaited<ReturnType<typeof readQueue>>;

/** Replaces each conversation with its account, such as `telegram:default`. */
function removeChats(report: QueueReport): QueueReport {
  const accountOnly = <One extends { readonly conversationId: string }>(one: One): One => ({
    ...one,
    conversationId: one.conversationId.split(':').slice(0, 2).join(':'),
  });
  const { waiting, running } = report;
  return { ...report, waiting: waiting.map(accountOnly), running: running.map(accountOnly) };
}

/** The maximum number of entries per list. The totals show whether there are more. */
const MAX_SHOWN = 50;

async function readQueue(store: QueueNeeds['store'], now: number) {
  const [backlog, parts, dead, processes] = await Promise.all([
    store.backlog.read(MAX_SHOWN, now),
    store.outbox.counts(),
    store.deadLetters.counts(),
    store.processes.list(),
  ]);
  const names = new Map(processes.map((process) => [process.id, formatProcessName(process)]));
  // A process that does not share its database is missing from the list.
  const other = processes.length === 0 ? 'this process' : 'a process that no longer runs';
  const running = backlog.running.map((turn) => ({
    ...turn,
    owner: turn.owner === null ? null : (names.get(getProcessName(turn.owner)) ?? other),
  }));
  const shown = processes.slice(0, MAX_SHOWN).map(({ id: _id, ...process }) => process);
  return { now, ...backlog, running, parts, dead, processes: shown };
}

/**
 * When settings change, a process starts a new worker, whose name is the process's name with a
 * number appended.
 */
function getProcessName(owner: string): string {
  return owner.replace(/\/\d+$/, '');
}

function formatProcessName({ host, pid }: RunningProcess): string {
  return `process ${pid} on ${host}`;
}
