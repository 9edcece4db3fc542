import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** Messages of one conversation that wait for a turn. Times in ms. */
export interface Waiting {
  readonly conversation: string;
  readonly messages: number;
  readonly oldestAt: number;
}

/** A turn that is under way. */
export interface Running {
  readonly turn: string;
  readonly conversation: string;
  readonly startedAt: number;
  readonly attempts: number;
  /** Who works on it; empty: nobody just now. */
  readonly owner: string;
  /** It waits for somebody's yes. */
  readonly isSuspended: boolean;
}

/** What an account has still to send. */
export interface Owed {
  readonly account: string;
  readonly pending: number;
  readonly sending: number;
  readonly chats: number;
  readonly oldestAt: number;
}

/** One of the processes that do the work. */
export interface Process {
  readonly role: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
}

/** The work that is not done yet, by the clock of the gateway. */
export interface Queue {
  readonly now: number;
  readonly messages: number;
  readonly conversations: number;
  readonly turns: number;
  readonly waiting: readonly Waiting[];
  readonly running: readonly Running[];
  readonly outgoing: readonly Owed[];
  readonly processes: readonly Process[];
  /** Parts of answers by how they stand. */
  readonly parts: Readonly<Record<'pending' | 'sending' | 'sent' | 'unknown' | 'failed', number>>;
}

/** Reads what the gateway tells of its queues. */
export function readQueue(data: unknown): Queue {
  const fields = fieldsOf(data);
  const parts = fieldsOf(fields.parts);
  return {
    now: numberOf(fields.now),
    messages: numberOf(fields.messages),
    conversations: numberOf(fields.conversations),
    turns: numberOf(fields.turns),
    waiting: listOf(fields.waiting).map(readWaiting),
    running: listOf(fields.running).map(readRunning),
    outgoing: listOf(fields.outgoing).map(readOwed),
    processes: listOf(fields.processes).map(readProcess),
    parts: {
      pending: numberOf(parts.pending),
      sending: numberOf(parts.sending),
      sent: numberOf(parts.sent),
      unknown: numberOf(parts.unknown),
      failed: numberOf(parts.failed),
    },
  };
}

function readWaiting(data: unknown): Waiting {
  const { conversationId, messages, oldestAt } = fieldsOf(data);
  return {
    conversation: textOf(conversationId),
    messages: numberOf(messages),
    oldestAt: numberOf(oldestAt),
  };
}

function readRunning(data: unknown): Running {
  const fields = fieldsOf(data);
  return {
    turn: textOf(fields.turnId),
    conversation: textOf(fields.conversationId),
    startedAt: numberOf(fields.startedAt),
    attempts: numberOf(fields.attempts),
    owner: textOf(fields.owner),
    isSuspended: fields.isSuspended === true,
  };
}

function readProcess(data: unknown): Process {
  const { role, host, pid, version, startedAt } = fieldsOf(data);
  return {
    role: textOf(role),
    host: textOf(host),
    pid: numberOf(pid),
    version: textOf(version),
    startedAt: numberOf(startedAt),
  };
}

function readOwed(data: unknown): Owed {
  const fields = fieldsOf(data);
  return {
    account: `${textOf(fields.channel)}/${textOf(fields.account)}`,
    pending: numberOf(fields.pending),
    sending: numberOf(fields.sending),
    chats: numberOf(fields.chats),
    oldestAt: numberOf(fields.oldestAt),
  };
}
