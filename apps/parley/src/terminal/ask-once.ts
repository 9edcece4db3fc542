import { ParleyError } from '@parley/core';
import { CliError } from '../data-folder.ts';
import type { ChatHistory, GatewayClient } from './gateway-client.ts';

/** How long (ms) the command waits before it reports on standard error that it is waiting. */
const QUIET_WAIT_MS = 10_000;

export interface TerminalAnswer {
  readonly text: string;
  /** False if the turn failed or was stopped; `text` then contains a notice. */
  readonly isAnswered: boolean;
}

const NO_ANSWER: TerminalAnswer = { text: '', isAnswered: true };

/**
 * Sends one message and waits for its answer. Throws CliError if the message is refused or the
 * gateway has stopped.
 */
export async function sendAndWaitForAnswer(
  client: Pick<GatewayClient, 'send' | 'history' | 'watch'>,
  ended: AbortController,
  message: string,
): Promise<TerminalAnswer> {
  if (message.trim() === '') return NO_ANSWER;
  const waits = setTimeout(printWaitingNotice, QUIET_WAIT_MS);
  try {
    const sent = await client.send(message.trimEnd());
    if (sent.kind === 'refused' || sent.kind === 'ignored') {
      throw new CliError(
        'chat-refused',
        `The message was not accepted: ${sent.reason ?? sent.kind}.`,
      );
    }
    return await waitForAnswer(client, ended, sent.id);
  } finally {
    clearTimeout(waits);
  }
}

function printWaitingNotice(): void {
  process.stderr.write(
    'Waiting for the answer. Ctrl-C stops waiting; a running gateway still answers.\n',
  );
}

async function waitForAnswer(
  client: Pick<GatewayClient, 'history' | 'watch'>,
  ended: AbortController,
  messageId: string,
): Promise<TerminalAnswer> {
  let answer: TerminalAnswer | null = null;
  let looking = false;
  let isStale = false;
  const look = async (): Promise<void> => {
    // The history that is being loaded may not include this change, and there may be no further
    // event.
    isStale = true;
    if (looking) return;
    looking = true;
    while (isStale && !ended.signal.aborted) {
      isStale = false;
      try {
        answer = findAnswer(await client.history(), messageId);
      } catch (error) {
        if (error instanceof ParleyError) ended.abort(error);
      }
      if (answer !== null) ended.abort();
    }
    looking = false;
  };
  await client.watch({
    linked: look,
    lost: () => undefined,
    event: (event) => {
      if (event.type === 'part' || event.type === 'stream-end') look();
    },
  });
  if (ended.signal.reason instanceof ParleyError) throw ended.signal.reason;
  return answer ?? NO_ANSWER;
}

/** Outcomes that leave a message without an answer. */
const UNANSWERED: ReadonlySet<string> = new Set(['failed', 'stopped', 'withdrawn', 'replaced']);

/** Finds the answer to a message: '' for a silent turn, and null while the answer is pending. */
export function findAnswer(history: ChatHistory, messageId: string): TerminalAnswer | null {
  const asked = history
    .filter((entry) => entry.type === 'inbound')
    .find((entry) => entry.messageId === messageId);
  if (asked === undefined || asked.outcome === null) return null;
  const { outcome, turnId } = asked;
  // Other people may write to the chat at the same time, and answers may arrive in any order.
  const own = history
    .filter((entry) => entry.type === 'part')
    .filter((part) => (turnId === null ? part.answers === messageId : part.turnId === turnId));
  const text = own.map((part) => part.text).join('\n\n');
  if (!UNANSWERED.has(outcome)) return { text, isAnswered: true };
  return {
    text: text || `The message was not answered (${outcome}).`,
    isAnswered: false,
  };
}
