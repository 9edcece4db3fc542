import type { QueueReport } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { DeadLetterSection } from './dead-letters.ts';
import { amount, counted, spanOf } from './ui/format.ts';
import { ColumnView, p, shown, useFresh } from './ui/widgets.ts';

/** The page asks again this often, in ms. */
const AGAIN_MS = 5_000;

/** Dead letters, and messages and turns that wait, run or are still to be sent (D06, U03). */
export function QueueView(): VNode {
  const { answer, refresh, round } = useFresh<QueueReport>('/api/queue', {
    againMs: () => AGAIN_MS,
  });
  return h(
    ColumnView,
    { name: 'queue-view', title: 'Queue', refresh },
    answer.kind === 'here' && p('facts', summaryOf(answer.value)),
    h(DeadLetterSection, { round, onSettled: refresh }),
    shown(answer, (queue) => h(QueueLists, { queue })),
  );
}

function summaryOf({ messages, turns, parts }: QueueReport): string {
  const owed = counted(parts.pending + parts.sending, 'part');
  return `${counted(messages, 'message')} waiting, ${counted(turns, 'turn')} under way, ${owed} to be sent.`;
}

/** The oldest entries first. */
function QueueLists({ queue }: { readonly queue: QueueReport }): VNode {
  const { now, waiting, running, outgoing, processes, messages, conversations, turns, parts } =
    queue;
  return h(
    'div',
    null,
    h(QueueList, {
      name: 'Waiting for a turn',
      none: 'No message waits.',
      facts: `${counted(messages, 'message')} in ${counted(conversations, 'conversation')}.`,
      rows: waiting.map(({ conversationId, messages, oldestAt }) => ({
        key: conversationId,
        name: conversationId,
        text: counted(messages, 'message'),
        since: now - oldestAt,
      })),
    }),
    h(QueueList, {
      name: 'Turns under way',
      none: 'No turn is under way.',
      facts: `${counted(turns, 'turn')}.`,
      rows: running.map((turn) => ({
        key: turn.turnId,
        name: turn.conversationId,
        text: turnText(turn),
        since: now - turn.startedAt,
      })),
    }),
    h(QueueList, {
      name: 'Still to be sent',
      none: 'Nothing is to be sent.',
      facts: `${counted(parts.pending + parts.sending, 'part')} of answers.`,
      rows: outgoing.map(({ channel, account, pending, sending, chats, oldestAt }) => ({
        key: `${channel}/${account}`,
        name: `${channel}/${account}`,
        text: `${pending} waiting, ${sending} being sent, in ${counted(chats, 'chat')}`,
        since: now - oldestAt,
      })),
    }),
    // A process that runs alone is not listed.
    processes.length > 0 &&
      h(QueueList, {
        name: 'Processes',
        none: '',
        facts: `${counted(processes.length, 'process', 'processes')}.`,
        rows: processes.map(({ role, host, pid, version, startedAt }) => ({
          key: `${host} ${pid}`,
          name: `${ROLES[role]} on ${host}`,
          text: `process ${pid}, version ${version}`,
          since: now - startedAt,
        })),
      }),
    p(
      'facts queue-sum',
      `Since the first start: ${counted(parts.sent, 'part')} sent, ${amount(parts.failed)} failed, ${amount(parts.unknown)} with an unknown outcome.`,
    ),
  );
}

const ROLES: Readonly<Record<QueueReport['processes'][number]['role'], string>> = {
  all: 'Gateway and worker',
  gateway: 'Gateway',
  worker: 'Worker',
};

function turnText({ owner, isSuspended, attempts }: QueueReport['running'][number]): string {
  const by = owner === null ? 'no process works on it' : `by ${owner}`;
  const state = isSuspended ? 'waits for approval' : by;
  return attempts > 1 ? `${state}, started ${attempts} times` : state;
}

interface QueueListProps {
  readonly name: string;
  /** Instead of an empty list. */
  readonly none: string;
  readonly facts: string;
  readonly rows: readonly {
    readonly key: string;
    readonly name: string;
    readonly text: string;
    /** In ms. */
    readonly since: number;
  }[];
}

function QueueList({ name, none, facts, rows }: QueueListProps): VNode {
  return h(
    'section',
    { 'aria-label': name },
    h('h3', null, name),
    rows.length === 0 ? h('p', null, none) : p('facts', facts),
    h(
      'ol',
      { class: 'rows' },
      rows.map(({ key, name, text, since }) =>
        h('li', { key }, h('b', null, name), h('span', null, text), h('time', null, spanOf(since))),
      ),
    ),
  );
}
