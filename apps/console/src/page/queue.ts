import type { QueueReport } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { DeadSection } from './dead-letters.ts';
import { useAnswer } from './gateway.ts';
import { amount, counted, spanOf } from './ui/format.ts';
import { ColumnView, shown } from './ui/widgets.ts';

/** The page asks again this often, in ms. */
const AGAIN_MS = 5_000;

/** Dead letters, and messages and turns that wait, run or are still to be sent (D06, U03). */
export function QueueView(): VNode {
  const [round, setRound] = useState(0);
  const answer = useAnswer<QueueReport>('/api/queue', round);
  const onRefresh = (): void => setRound((last) => last + 1);
  useEffect(() => {
    const timer = setTimeout(onRefresh, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [answer]);
  return h(
    ColumnView,
    { name: 'queue-view', title: 'Queue', refresh: { onRefresh } },
    answer.kind === 'here' && h('p', { class: 'facts' }, summaryOf(answer.value)),
    h(DeadSection, { round, onSettled: onRefresh }),
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
    h(
      'p',
      { class: 'facts' },
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
    h('p', { class: rows.length === 0 ? '' : 'facts' }, rows.length === 0 ? none : facts),
    rows.length > 0 &&
      h(
        'ol',
        { class: 'queue-rows' },
        rows.map((row) =>
          h(
            'li',
            { key: row.key },
            h('b', null, row.name),
            h('span', null, row.text),
            h('time', null, spanOf(row.since)),
          ),
        ),
      ),
  );
}
