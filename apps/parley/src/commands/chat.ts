import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import { ParleyError, reasonOf } from '@parley/contracts';
import type { DataFolder } from '../data-folder.ts';
import { findInstance } from '../instance-file.ts';
import { startParley } from '../start-parley.ts';
import { type AnswerPrinter, createAnswerPrinter } from '../terminal/answer-printer.ts';
import { createChatScreen } from '../terminal/chat-screen.ts';
import {
  type ChatHistory,
  createGatewayClient,
  type GatewayClient,
} from '../terminal/gateway-client.ts';
import { joinBursts } from '../terminal/join-bursts.ts';

/** `parley chat`: talks to the agent here, through the running gateway or one that lives as long as the chat. */
export async function chat(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<number> {
  const own = findInstance(folder) ? null : await startOwn(folder, env);
  const ended = new AbortController();
  const client = createGatewayClient(() => {
    const instance = findInstance(folder);
    return (
      instance && {
        address: instance.address,
        token: readFileSync(folder.tokenFile, 'utf8').trim(),
      }
    );
  }, ended.signal);
  try {
    if (process.stdin.isTTY && process.stdout.isTTY) await converse(client, ended, env);
    else await askOnce(client, ended, await readAll(process.stdin));
    return 0;
  } finally {
    ended.abort();
    await own?.close();
  }
}

/** The gateway's log goes to a file: the screen belongs to the conversation. */
function startOwn(folder: DataFolder, env: NodeJS.ProcessEnv) {
  const log = join(folder.path, 'parley.log');
  const logTo = { write: (line: string) => appendFileSync(log, line, { mode: 0o600 }) };
  return startParley({ folder, env, clock: Date.now, logTo, pass: () => {} });
}

/** Piped input is one message; its answer is all that is printed. */
async function askOnce(
  client: GatewayClient,
  ended: AbortController,
  message: string,
): Promise<void> {
  if (message.trim() === '') return;
  const sent = await client.send(message.trimEnd());
  if (sent.kind === 'ignored') return;
  const look = async (): Promise<void> => {
    const answers = answersTo(await client.history(), sent.id);
    if (answers.length === 0) return;
    process.stdout.write(`${answers.join('\n\n')}\n`);
    ended.abort();
  };
  const lookAgain = (): void => {
    look().catch((error: unknown) => {
      // The look that found the answer ends all others.
      if (!ended.signal.aborted) ended.abort(error);
    });
  };
  await client.watch(look, lookAgain);
  if (ended.signal.reason instanceof ParleyError) throw ended.signal.reason;
}

/** What was answered to a message, once it was: everything after it. A refused one is answered by a notice. */
function answersTo(history: ChatHistory, messageId: string): string[] {
  const asked = history.findIndex(
    (entry) => entry.type === 'inbound' && entry.messageId === messageId,
  );
  const later = history.slice(asked === -1 ? -1 : asked + 1);
  return later.flatMap((entry) => (entry.type === 'part' ? [entry.text] : []));
}

async function converse(
  client: GatewayClient,
  ended: AbortController,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const line = createInterface({ input: process.stdin, output: process.stdout, prompt: '› ' });
  const screen = createChatScreen(process.stdout, line, !env.NO_COLOR);
  const printer = createAnswerPrinter();
  await skipOld(client, printer);
  let waiting = 0;
  process.stdout.write(
    'Write a message and press Enter. /help shows the commands, Ctrl-D ends the chat.\n\n',
  );
  const settle = (): void => {
    waiting = 0;
    screen.thinking(false);
  };
  const deliver = async (message: string): Promise<void> => {
    if (message.trim() === '') return screen.prompt();
    waiting += 1;
    screen.thinking(true);
    const sent = await client.send(message);
    if (sent.kind === 'refused') screen.write(`Not taken: ${sent.reason ?? 'no reason given'}`);
    if (sent.kind === 'ignored' || sent.kind === 'refused') settle();
  };
  const send = joinBursts((message) => {
    deliver(message).catch((error: unknown) => {
      if (!ended.signal.aborted) screen.write(`Not sent: ${reasonOf(error)}`);
    });
  });
  line.on('line', send);
  line.on('SIGINT', () => {
    if (waiting > 0) send('/stop');
    else line.close();
  });
  line.on('close', () => ended.abort());
  screen.prompt();
  await client.watch(
    async () => screen.write(printNew(printer, await client.history())),
    (event) => {
      if (event.type === 'stream') screen.write(printer.grow(event.turnId, event.text));
      if (event.type === 'part') {
        settle();
        screen.write(printer.finish(event.partId, event.turnId, event.text));
      }
    },
  );
  process.stdout.write('\n');
}

async function skipOld(client: GatewayClient, printer: AnswerPrinter): Promise<void> {
  for (const entry of await client.history()) if (entry.type === 'part') printer.skip(entry.partId);
}

/** After a reconnection: what was answered meanwhile. */
function printNew(printer: AnswerPrinter, history: ChatHistory): string {
  return history
    .map((entry) =>
      entry.type === 'part' ? printer.finish(entry.partId, entry.turnId, entry.text) : '',
    )
    .join('');
}
