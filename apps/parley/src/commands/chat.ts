import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { systemTime, toAgentConversation } from '@parley/core';
import type { CliContext } from '../cli.ts';
import { type DataFolder, restrictFileMode } from '../data-folder.ts';
import { findGateway } from '../running-gateway.ts';
import { findChosenAgent, readSettings } from '../settings.ts';
import { sendAndWaitForAnswer, type TerminalAnswer } from '../terminal/ask-once.ts';
import { runConversation } from '../terminal/converse.ts';
import { createGatewayClient } from '../terminal/gateway-client.ts';
import { abortOnSignal } from '../terminal/interrupt.ts';
import { stripControlCharacters } from '../terminal/text.ts';

/**
 * How long (ms) to wait for a gateway that is restarting. A restart takes seconds, and a script
 * must not wait forever for a gateway that has stopped.
 */
const MAY_BE_AWAY_MS = 30_000;

/**
 * `parley chat`: talks to the agent in the terminal, through the running gateway or one that runs
 * only during the chat. Piped input is sent as a single message, and only its answer is written to
 * standard output. Resolves to the exit code. If the message was not answered, the code is 1, and
 * standard error states the reason.
 */
export async function runChat({
  folder,
  env,
  agent,
}: Pick<CliContext, 'folder' | 'env' | 'agent'>): Promise<number> {
  const { stdin, stdout } = process;
  const isTalk = stdin.isTTY && stdout.isTTY;
  const message = isTalk ? '' : await readMessage(stdin);
  const own = (await findGateway(folder, env)) ? null : await startTemporaryGateway(folder, env);
  const ended = new AbortController();
  const client = createGatewayClient(() => findGateway(folder, env), ended.signal, {
    downloads: join(folder.path, 'downloads'),
    chat: resolveTerminalChat(agent, { folder, env }),
    mayBeAwayMs: isTalk ? undefined : MAY_BE_AWAY_MS,
  });
  using interrupted = abortOnSignal(ended);
  try {
    if (isTalk) {
      const colour = !env.NO_COLOR && env.TERM !== 'dumb';
      await runConversation({ client, input: stdin, output: stdout, colour, ended });
      return interrupted.yes ? 130 : 0;
    }
    const answer = await sendAndWaitForAnswer(client, ended, message);
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

/** Only the agent's answer is written to standard output, so that scripts can use it. */
function printAnswer({ text, isAnswered }: TerminalAnswer): number {
  const stream = isAnswered ? process.stdout : process.stderr;
  if (text !== '') stream.write(`${stripControlCharacters(text)}\n`);
  return isAnswered ? 0 : 1;
}

const CHAT_ID = 'main';

/** Returns the id of the terminal's only chat with an agent. */
function resolveTerminalChat(
  asked: string | undefined,
  { folder, env }: Pick<CliContext, 'folder' | 'env'>,
): string {
  if (asked === undefined) return CHAT_ID;
  return toAgentConversation(findChosenAgent(readSettings(folder, env), asked).name, CHAT_ID);
}

/** Starts a gateway that logs to a file, because the terminal shows the conversation. */
export async function startTemporaryGateway(folder: DataFolder, env: NodeJS.ProcessEnv) {
  // The gateway is loaded lazily: it is large, and a chat through a running gateway does not need
  // it.
  const { startParley } = await import('../start-parley.ts');
  restrictFileMode();
  const log = join(folder.path, 'parley.log');
  const logTo = { write: (line: string) => appendFileSync(log, line, { mode: 0o600 }) };
  return startParley({ folder, env, ...systemTime, logTo, checkpoint: () => {} });
}
