import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '@parley/core';
import type { ChatEvent, ChatHistory, GatewayClient } from './gateway-client.ts';
import { type ChatScreen, createChatScreen, createLineJoiner, PROMPT } from './screen.ts';
import {
  applyWaitingChange,
  formatStatusLine,
  IDLE,
  isWaiting,
  type WaitingChange,
} from './waiting.ts';

export interface ConverseOptions {
  readonly client: GatewayClient;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colour: boolean;
  readonly ended: AbortController;
}

const WELCOME =
  'Type a message and press Enter. /help shows the commands, Ctrl-D ends the chat.\n\n';
/**
 * The gateway repeats the typing state every 4 s. The indicator disappears after this time (ms),
 * even if the final event is lost.
 */
const TYPING_FADES_MS = 6_500;
/** How long (ms) to wait for messages in transit when the chat ends. */
const LAST_SENDS_MS = 3_000;
/** The escape sequence that enables bracketed paste mode. */
const MARK_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';

/**
 * Runs the chat until the person ends it. Rejects with CliError if the gateway refuses a request.
 */
export async function runConversation(options: ConverseOptions): Promise<void> {
  const { client, input, output, ended } = options;
  const seen = listPartIds(await client.history());
  const line = createInterface({ input, output, prompt: PROMPT });
  const screen = createChatScreen(output, line, options.colour);
  const talk = createTerminalConversation(client, screen, seen);
  output.write(`${MARK_PASTES}${WELCOME}`);
  const closed = readInput(line, input, screen, talk);
  line.prompt();
  const watching = client.watch(talk);
  try {
    await Promise.race([closed, watching]);
    await talk.lastSends();
  } finally {
    screen.close();
    line.close();
    output.write(LEAVE_PASTES);
    ended.abort();
  }
  for (const text of talk.unsent()) output.write(`Not sent:\n${text}\n`);
  await watching;
}

type TerminalConversation = ReturnType<typeof createTerminalConversation>;

function createTerminalConversation(client: GatewayClient, screen: ChatScreen, seen: Set<string>) {
  let waiting = IDLE;
  let answer = '';
  let fading: NodeJS.Timeout | undefined;
  const onTheWay = new Map<Promise<void>, string>();
  let lastSent = Promise.resolve();
  const change = (next: WaitingChange): void => {
    waiting = applyWaitingChange(waiting, next);
    screen.live(answer, formatStatusLine(waiting));
  };
  const finish = (part: { readonly partId: string; readonly text: string }): void => {
    if (seen.has(part.partId)) return;
    seen.add(part.partId);
    answer = '';
    screen.live('', '');
    screen.say(part.text);
  };
  const deliver = async (message: string): Promise<void> => {
    try {
      const { kind, reason } = await client.send(message);
      change({ type: 'sent', kind });
      if (kind === 'refused' || kind === 'ignored') screen.say(`Not accepted: ${reason ?? kind}.`);
    } catch (error) {
      change({ type: 'sent', kind: 'failed' });
      screen.say(`Not sent: ${reasonOf(error)}`);
    }
  };
  return {
    send(message: string): void {
      change({ type: 'sending' });
      // Messages are sent one at a time, so that their order stays the same if the gateway fails;
      // /stop is sent ahead of them.
      const turn = message === '/stop' ? Promise.resolve() : lastSent;
      const sending: Promise<void> = turn
        .then(() => deliver(message))
        .then(() => {
          onTheWay.delete(sending);
        });
      if (message !== '/stop') lastSent = sending;
      onTheWay.set(sending, message);
    },
    busy: () => isWaiting(waiting),
    async linked(): Promise<void> {
      const history = await client.history();
      answer = '';
      for (const entry of history) if (entry.type === 'part') finish(entry);
      change({ type: 'linked', history });
    },
    lost: () => change({ type: 'lost' }),
    event(event: ChatEvent): void {
      if (event.type === 'stream') answer = event.text;
      if (event.type === 'stream-end') answer = '';
      if (event.type === 'part') finish(event);
      if (event.type === 'typing') {
        clearTimeout(fading);
        fading = setTimeout(() => change({ type: 'typing-faded' }), TYPING_FADES_MS);
        fading.unref();
      }
      change(event);
    },
    /** Waits for messages in transit, up to a deadline. */
    async lastSends(): Promise<void> {
      clearTimeout(fading);
      const patience = sleep(LAST_SENDS_MS, undefined, { ref: false });
      await Promise.race([Promise.all(onTheWay.keys()), patience]);
    },
    unsent: (): readonly string[] => [...onTheWay.values()],
  };
}

function readInput(
  line: Interface,
  input: NodeJS.ReadStream,
  screen: ChatScreen,
  talk: TerminalConversation,
): Promise<void> {
  const joiner = createLineJoiner((message) => {
    if (message.trim() !== '') talk.send(message);
  });
  let stopping = false;
  input.on('keypress', (_text: string, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') joiner.pasting(true);
    if (key?.name === 'paste-end') joiner.pasting(false);
  });
  line.on('line', (text) => {
    screen.entered(text);
    joiner.line(text);
    stopping = false;
  });
  line.on('SIGINT', () => {
    // A second Ctrl-C ends the chat, because /stop may not reach an unavailable gateway.
    if (!talk.busy() || stopping) return line.close();
    stopping = true;
    talk.send('/stop');
  });
  return new Promise((resolve) => {
    line.on('close', () => {
      joiner.flush();
      resolve();
    });
  });
}

function listPartIds(history: ChatHistory): Set<string> {
  return new Set(history.flatMap((entry) => (entry.type === 'part' ? [entry.partId] : [])));
}
