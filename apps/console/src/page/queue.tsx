import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRowAgents } from './agents.tsx';
import { DeadLetterSection } from './dead-letters.tsx';
import { useOperation } from './ui/data.tsx';
import { formatAmount, formatCounted, formatDuration } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { DataContent, Section } from './ui/widgets.tsx';
import { useCanRead } from './who.ts';

type QueueReport = OutputOf<'queue/report'>;

/** How often the page refreshes, in ms. */
const POLL_INTERVAL_MS = 5_000;

/**
 * Dead letters, and the messages and turns that are waiting, running or still to be sent (D06,
 * U03).
 */
export function QueueView(): VNode {
  const queue = useOperation('queue/report', {}, POLL_INTERVAL_MS);
  return (
    <ColumnView name="queue-view" title="Queue">
      {queue.value && <p class="facts">{summarizeQueue(queue.value)}</p>}
      {useCanRead('dead/list') && <DeadLetterSection />}
      <DataContent data={queue}>{(report) => <QueueLists {...report} />}</DataContent>
    </ColumnView>
  );
}

function summarizeQueue({ messages, turns, parts }: QueueReport): string {
  const owed = formatCounted(parts.pending + parts.sending, 'part');
  return `${formatCounted(messages, 'message')} waiting, ${formatCounted(turns, 'turn')} running, ${owed} to send.`;
}

/** The oldest entries first. */
function QueueLists(report: QueueReport): VNode {
  const { now, waiting, running, outgoing, processes, messages, conversations, turns, parts } =
    report;
  const { isShown } = useRowAgents();
  return (
    <>
      <QueueList
        name="Waiting messages"
        none="None."
        facts={`${formatCounted(messages, 'message')} in ${formatCounted(conversations, 'conversation')}.`}
        rows={waiting
          .filter(({ conversationId }) => isShown(conversationId))
          .map(({ conversationId, messages, oldestAt }) => ({
            name: conversationId,
            text: formatCounted(messages, 'message'),
            since: now - oldestAt,
          }))}
      />
      <QueueList
        name="Running turns"
        none="None."
        facts={`${formatCounted(turns, 'turn')}.`}
        rows={running
          .filter(({ conversationId }) => isShown(conversationId))
          .map((turn) => ({
            name: turn.conversationId,
            text: describeTurn(turn),
            since: now - turn.startedAt,
          }))}
      />
      <QueueList
        name="Outgoing"
        none="Nothing to send."
        facts={`${formatCounted(parts.pending + parts.sending, 'part')} of answers.`}
        rows={outgoing.map(({ channel, account, pending, sending, chats, oldestAt }) => ({
          name: `${channel}/${account}`,
          text: `${pending} waiting, ${sending} being sent, in ${formatCounted(chats, 'chat')}`,
          since: now - oldestAt,
        }))}
      />
      {/* The list is omitted if there is only one process. */}
      {processes.length > 0 && (
        <QueueList
          name="Processes"
          none=""
          facts={`${formatCounted(processes.length, 'process', 'processes')}.`}
          rows={processes.map(({ role, host, pid, version, startedAt }) => ({
            name: `${ROLES[role]} on ${host}`,
            text: `process ${pid}, version ${version}`,
            since: now - startedAt,
          }))}
        />
      )}
      <p class="facts">
        Since the first start: {formatCounted(parts.sent, 'part')} sent,{' '}
        {formatAmount(parts.failed)} failed, {formatAmount(parts.unknown)} with an unknown outcome.
      </p>
    </>
  );
}

const ROLES: Readonly<Record<QueueReport['processes'][number]['role'], string>> = {
  all: 'Gateway and worker',
  gateway: 'Gateway',
  worker: 'Worker',
};

function describeTurn({ owner, isSuspended, attempts }: QueueReport['running'][number]): string {
  const by = owner === null ? 'no process is working on it' : `by ${owner}`;
  const state = isSuspended ? 'waiting for approval' : by;
  return attempts > 1 ? `${state}, started ${attempts} times` : state;
}

interface QueueListProps {
  readonly name: string;
  /** The text shown when the list is empty. */
  readonly none: string;
  readonly facts: string;
  readonly rows: readonly {
    readonly name: string;
    readonly text: string;
    /** In ms. */
    readonly since: number;
  }[];
}

function QueueList({ name, none, facts, rows }: QueueListProps): VNode {
  return (
    <Section title={name}>
      <p class="facts">{rows.length === 0 ? none : facts}</p>
      <ol class="rows">
        {rows.map(({ name, text, since }, nth) => (
          <li key={nth}>
            <b>{name}</b>
            <span>{text}</span>
            <time>{formatDuration(since)}</time>
          </li>
        ))}
      </ol>
    </Section>
  );
}
