import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { conversationOfAgent, ParleyError, systemTime } from '@parley/core';
import type { Cli } from '../cli.ts';
import { CliError, type DataFolder } from '../data-folder.ts';
import {
  type ChatHistory,
  createGatewayClient,
  findGateway,
  type GatewayClient,
} from '../running-gateway.ts';
import { chosenAgent, readSettings } from '../settings.ts';
import { converse } from '../terminal/converse.ts';
import { visible } from '../terminal/text.ts';

/**
 * `parley chat`: talks to the agent here, through the running gateway or one that lives as long as the
 * chat. Piped input is one message, whose answer is all that is printed. Resolves with the exit code.
 */
export async function chat({
  folder,
  env,
  agent,
}: Pick<Cli, 'folder' | 'env' | 'agent'>): Promise<number> {
  const { stdin, stdout } = process;
  const isTalk = stdin.isTTY && stdout.isTTY;
  const message = isTalk ? '' : await readAll(stdin);
  const own = (await findGateway(folder, env)) ? null : await startOwn(folder, env);
  const ended = new AbortController();
  const client = createGatewayClient(() => findGateway(folder, env), ended.signal, {
    downloads: join(folder.path, 'downloads'),
    chat: chatWith(agent, { folder, env }),
  });
  const interrupted = onInterrupt(ended);
  try {
    if (isTalk) {
      const colour = !env.NO_COLOR && env.TERM !== 'dumb';
      await converse({ client, input: stdin, output: stdout, colour, ended });
    } else {
      const answer = await askOnce(client, ended, message);
      if (answer !== '') stdout.write(`${visible(answer)}\n`);
    }
    return interrupted.yes ? 130 : 0;
  } catch (error) {
    if (interrupted.yes) return 130;
    throw error;
  } finally {
    ended.abort();
    await own?.close();
  }
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
  const log = join(folder.path, 'parley.log');
  const logTo = { write: (line: string) => appendFileSync(log, line, { mode: 0o600 }) };
  return startParley({ folder, env, ...systemTime, logTo, pass: () => {} });
}

/** A signal ends the chat in order, so that a gateway of its own is closed. In a talk Ctrl-C is a key. */
function onInterrupt(ended: AbortController): { yes: boolean } {
  const interrupted = { yes: false };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interrupted.yes = true;
      ended.abort();
    });
  }
  return interrupted;
}

/** Sends one message and waits for its answer. Throws CliError when the gateway does not accept it. */
export async function askOnce(
  client: GatewayClient,
  ended: AbortController,
  message: string,
): Promise<string> {
  if (message.trim() === '') return '';
  const sent = await client.send(message.trimEnd());
  if (sent.kind === 'refused' || sent.kind === 'ignored') {
    throw new CliError('chat-refused', `The message was not taken: ${sent.reason ?? sent.kind}.`);
  }
  let answer: string | null = null;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || ended.signal.aborted) return;
    looking = true;
    try {
      answer = answerTo(await client.history(), sent.id);
    } catch (error) {
      if (error instanceof ParleyError) ended.abort(error);
    } finally {
      looking = false;
    }
    if (answer !== null) ended.abort();
  };
  await client.watch({
    linked: look,
    lost: () => undefined,
    event: (event) => {
      if (event.type === 'part' || event.type === 'stream-end') look();
    },
  });
  if (ended.signal.reason instanceof ParleyError) throw ended.signal.reason;
  return answer ?? '';
}

/** The answer to a message once its turn has ended, '' for none; null while it is still to come. */
export function answerTo(history: ChatHistory, messageId: string): string | null {
  const at = history.findIndex(
    (entry) => entry.type === 'inbound' && entry.messageId === messageId,
  );
  const asked = history[at];
  if (asked?.type !== 'inbound' || asked.outcome === null) return null;
  const parts = history.slice(at + 1).filter((entry) => entry.type === 'part');
  // A part of an earlier question may have come in between; this one's turn was the last to end.
  const turnId = parts.at(-1)?.turnId ?? null;
  const own = turnId === null ? parts.slice(-1) : parts.filter((part) => part.turnId === turnId);
  return own.map(({ text }) => text).join('\n\n');
}
