import { h, type VNode } from 'preact';
import { amount } from '../ui/amount.ts';
import type { Owed, Process, Queue, Running, Waiting } from './read-queue.ts';
import { spanOf } from './span.ts';

/** What waits, runs and is still to be sent: where it stays longest stands first. */
export function QueueLists({ queue }: { readonly queue: Queue }): VNode {
  const { now, waiting, running, outgoing, processes, messages, conversations, turns, parts } =
    queue;
  return h(
    'div',
    null,
    h(QueueList, {
      name: 'Waiting for a turn',
      none: 'No message waits.',
      facts: `${count(messages, 'message')} in ${count(conversations, 'conversation')}.`,
      rows: waiting.map((row) => waitingRow(row, now)),
    }),
    h(QueueList, {
      name: 'Turns under way',
      none: 'No turn is under way.',
      facts: `${count(turns, 'turn')}.`,
      rows: running.map((row) => runningRow(row, now)),
    }),
    h(QueueList, {
      name: 'Still to be sent',
      none: 'Nothing is to be sent.',
      facts: `${count(parts.pending + parts.sending, 'part')} of answers.`,
      rows: outgoing.map((row) => owedRow(row, now)),
    }),
    // One process alone does not announce itself.
    processes.length > 0 &&
      h(QueueList, {
        name: 'Processes',
        none: '',
        facts: `${count(processes.length, 'process', 'processes')}.`,
        rows: processes.map((row) => processRow(row, now)),
      }),
    h(
      'p',
      { class: 'beat-facts' },
      `Since the beginning ${amount(parts.sent)} parts were sent, ${amount(parts.failed)} could not be, and of ${amount(parts.unknown)} nobody knows.`,
    ),
  );
}

/** How things stand, in one line. */
export function queueSummary({ messages, turns, parts }: Queue): string {
  const owed = count(parts.pending + parts.sending, 'part');
  return `${count(messages, 'message')} waiting, ${count(turns, 'turn')} under way, ${owed} to be sent.`;
}

interface Row {
  readonly key: string;
  readonly name: string;
  readonly words: string;
  readonly span: string;
}

interface QueueListProps {
  readonly name: string;
  readonly none: string;
  readonly facts: string;
  readonly rows: readonly Row[];
}

function QueueList({ name, none, facts, rows }: QueueListProps): VNode {
  return h(
    'section',
    { 'aria-label': name },
    h('h3', null, name),
    h('p', { class: rows.length === 0 ? '' : 'beat-facts' }, rows.length === 0 ? none : facts),
    rows.length > 0 &&
      h(
        'ol',
        { class: 'queue-rows' },
        rows.map(({ key, name: what, words, span }) =>
          h('li', { key }, h('b', null, what), h('span', null, words), h('time', null, span)),
        ),
      ),
  );
}

function waitingRow({ conversation, messages, oldestAt }: Waiting, now: number): Row {
  const words = count(messages, 'message');
  return { key: conversation, name: conversation, words, span: spanOf(now - oldestAt) };
}

function runningRow(row: Running, now: number): Row {
  const { turn, conversation, startedAt, attempts, owner, isSuspended } = row;
  const by = owner === '' ? 'nobody just now' : `by ${owner}`;
  const doing = isSuspended ? 'waits for a yes' : by;
  const words = attempts > 1 ? `${doing}, begun ${attempts} times` : doing;
  return { key: turn, name: conversation, words, span: spanOf(now - startedAt) };
}

function owedRow({ account, pending, sending, chats, oldestAt }: Owed, now: number): Row {
  const words = `${pending} waiting, ${sending} being sent, in ${count(chats, 'chat')}`;
  return { key: account, name: account, words, span: spanOf(now - oldestAt) };
}

const ROLES: Readonly<Record<string, string>> = {
  all: 'Gateway and worker',
  gateway: 'Gateway',
  worker: 'Worker',
};

function processRow({ role, host, pid, version, startedAt }: Process, now: number): Row {
  const name = `${ROLES[role] ?? role} on ${host}`;
  const words = `process ${pid}, version ${version}`;
  return { key: `${host} ${pid}`, name, words, span: spanOf(now - startedAt) };
}

function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${amount(number)} ${number === 1 ? noun : nouns}`;
}
