import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { conversationOfAgent, ParleyError, systemTime } from '@parley/core';
import type { Cli } from '../cli.ts';
import { CliError, type DataFolder, writeForOwnerAlone } from '../data-folder.ts';
import {
  type ChatHistory,
  createGatewayClient,
  findGateway,
  type GatewayClient,
} from '../running-gateway.ts';
import { chosenAgent, readSettings } from '../settings.ts';
import { converse } from '../terminal/converse.ts';
import { abortOnSignal } from '../terminal/interrupt.ts';
import { visible } from '../terminal/text.ts';

/** A restart takes seconds; a script must not wait for a gateway that nobody starts again. In ms. */
const MAY_BE_AWAY_MS = 30_000;
/** After this long without an answer, standard error says that the command waits. In ms. */
const QUIET_WAIT_MS = 10_000;

/**
 * `parley chat`: talks to the agent here, through the running gateway or one that lives as long as the
 * chat. Piped input is one message; its answer is all that standard output gets. Resolves with the exit
 * code: 1 when the message got no answer, which standard error explains.
 */
export async function chat({
  folder,
  env,
  agent,
}: Pick<Cli, 'folder' | 'env' | 'agent'>): Promise<number> {
  const { stdin, stdout } = process;
  const isTalk = stdin.isTTY && stdout.isTTY;
  const message = isTalk ? '' : await readMessage(stdin);
  const own = (await findGateway(folder, env)) ? null : await startOwn(folder, env);
  const ended = new AbortController();
  const client = createGatewayClient(() => findGateway(folder, env), ended.signal, {
    downloads: join(folder.path, 'downloads'),
    chat: chatWith(agent, { folder, env }),
    mayBeAwayMs: isTalk ? undefined : MAY_BE_AWAY_MS,
  });
  using interrupted = abortOnSignal(ended);
  try {
    if (isTalk) {
      const colour = !env.NO_COLOR && env.TERM !== 'dumb';
      await converse({ client, input: stdin, output: stdout, colour, ended });
      return interrupted.yes ? 130 : 0;
    }
    const answer = await askOnce(client, ended, message);
    if (interrupted.yes) return 130;
    return printAnswer(answer);
  } catch (error) {
    if (interrupted.yes) return 130;
    throw error;
  } finally {
    ended.abort();
    await own?.close();
  }
}

async function readMessage(stdin: NodeJS.ReadStream): Promise<string> {
  if (stdin.isTTY) process.stderr.write('Type your message, then press Ctrl-D.\n');
  return readAll(stdin);
}

/** What a script reads from standard output is the agent's answer and nothing else. */
function printAnswer({ text, isAnswered }: Answer): number {
  const stream = isAnswered ? process.stdout : process.stderr;
  if (text !== '') stream.write(`${visible(text)}\n`);
  return isAnswered ? 0 : 1;
}

const CHAT_ID = 'main';

/** The id of the one chat that the terminal has with each agent. */
function chatWith(asked: string | undefined, { folder, env }: Pick<Cli, 'folder' | 'env'>): string {
  if (asked === undefined) return CHAT_ID;
  return conversationOfAgent(chosenAgent(readSettings(folder, env), asked).name, CHAT_ID);
}

/** The gateway's log goes to a file: the screen belongs to the conversation. */
export async function startOwn(folder: DataFolder, env: NodeJS.ProcessEnv) {
  // A gateway is heavy; where one runs already, the chat does not load a second.
  const { startParley } = await import('../start-parley.ts');
  writeForOwnerAlone();
  const log = join(folder.path, 'parley.log');
  const logTo = { write: (line: string) => appendFileSync(log, line, { mode: 0o600 }) };
  return startParley({ folder, env, ...systemTime, logTo, checkpoint: () => {} });
}

export interface Answer {
  readonly text: string;
  /** False when the turn failed or was stopped; `text` is then the notice about it. */
  readonly isAnswered: boolean;
}

const NO_ANSWER: Answer = { text: '', isAnswered: true };

/** Sends one message and waits for its answer. Throws CliError when it is refused or the gateway is gone. */
export async function askOnce(
  client: Pick<GatewayClient, 'send' | 'history' | 'watch'>,
  ended: AbortController,
  message: string,
): Promise<Answer> {
  if (message.trim() === '') return NO_ANSWER;
  const waits = setTimeout(sayThatItWaits, QUIET_WAIT_MS);
  try {
    const sent = await client.send(message.trimEnd());
    if (sent.kind === 'refused' || sent.kind === 'ignored') {
      throw new CliError('chat-refused', `The message was not taken: ${sent.reason ?? sent.kind}.`);
    }
    return await waitForAnswer(client, ended, sent.id);
  } finally {
    clearTimeout(waits);
  }
}

function sayThatItWaits(): void {
  process.stderr.write(
    'Waiting for the answer. Ctrl-C ends the wait; a gateway that keeps running answers all the same.\n',
  );
}

async function waitForAnswer(
  client: Pick<GatewayClient, 'history' | 'watch'>,
  ended: AbortController,
  messageId: string,
): Promise<Answer> {
  let answer: Answer | null = null;
  let looking = false;
  let isStale = false;
  const look = async (): Promise<void> => {
    // What happens while the history is read may be missing in it, and there may be no other event.
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

/** Outcomes of a message that leave it without the agent's answer. */
const UNANSWERED: ReadonlySet<string> = new Set(['failed', 'stopped', 'withdrawn', 'replaced']);

/** The answer to a message once its turn has ended, '' for none; null while it is still to come. */
export function findAnswer(history: ChatHistory, messageId: string): Answer | null {
  const asked = history
    .filter((entry) => entry.type === 'inbound')
    .find((entry) => entry.messageId === messageId);
  if (asked === undefined || asked.outcome === null) return null;
  const { outcome, turnId } = asked;
  // Others may write to the chat at the same time, and the answers come in any order.
  const own = history
    .filter((entry) => entry.type === 'part')
    .filter((part) => (turnId === null ? part.answers === messageId : part.turnId === turnId));
  const text = own.map((part) => part.text).join('\n\n');
  if (!UNANSWERED.has(outcome)) return { text, isAnswered: true };
  return { text: text || `The message got no answer: it was ${outcome}.`, isAnswered: false };
}
