import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, systemTime } from '@parley/core';
import { z } from 'zod';
import { CliError } from '../data-folder.ts';
import { type FoundGateway, requestGateway } from '../running-gateway.ts';

const Part = z.object({
  type: z.literal('part'),
  partId: z.string(),
  turnId: z.string().nullable(),
  /**
   * In a history, the id of the message that this entry answers without a turn, for example as the
   * reply to a command.
   */
  answers: z.string().optional(),
  text: z.string(),
  /** A file that was sent with the text; shown above the text. */
  file: z.object({ name: z.string().nullable() }).optional(),
});
const Inbound = z.object({ type: z.literal('inbound'), messageId: z.string() });
const Asked = Inbound.extend({
  /** Null while the message is waiting for its turn. */
  outcome: z.string().nullable(),
  /** The turn whose message parts answer the message; null until a turn has started. */
  turnId: z.string().nullable(),
});

const Event = z.discriminatedUnion('type', [
  Part,
  Inbound,
  z.object({ type: z.literal('typing') }),
  z.object({ type: z.literal('stream'), turnId: z.string(), text: z.string() }),
  z.object({ type: z.literal('stream-end'), turnId: z.string() }),
]);
export type ChatEvent = z.infer<typeof Event>;

const History = z.object({ entries: z.array(z.discriminatedUnion('type', [Part, Asked])) });
export type ChatHistory = z.infer<typeof History>['entries'];

const Answer = z.object({ outcome: z.object({ kind: z.string(), reason: z.string().optional() }) });

/**
 * Finds the gateway; returns null while no gateway is running. Called for every connection attempt.
 */
export type FindGateway = () => Promise<Pick<FoundGateway, 'address' | 'token'> | null>;

export type GatewayClient = ReturnType<typeof createGatewayClient>;

export interface GatewayListener {
  /** Called after each connection or reconnection, before its first event. */
  linked(): Promise<void>;
  /** Called when the gateway is unreachable. The client keeps trying to reconnect. */
  lost(): void;
  event(event: ChatEvent): void;
}

const RETRY_MS = 500;

interface TerminalOptions {
  /** The folder for received files. */
  readonly downloads: string;
  /**
   * The id of the chat: `main`, or `@support/main` for an agent other than the default one (F14).
   */
  readonly chat: string;
  /**
   * How long (ms) the gateway may be unreachable before all calls reject with `gateway-gone`;
   * unlimited by default.
   */
  readonly mayBeAwayMs?: number | undefined;
}

interface TerminalRequestOptions extends Pick<TerminalOptions, 'chat'> {
  readonly find: FindGateway;
  readonly signal: AbortSignal;
}

/**
 * Communicates with the terminal channel of a gateway, which may restart in the meantime, until
 * `signal` aborts. Received files are saved in the folder `downloads`.
 */
export function createGatewayClient(
  find: FindGateway,
  signal: AbortSignal,
  { downloads, chat, mayBeAwayMs = Number.POSITIVE_INFINITY }: TerminalOptions,
) {
  const place = { find, signal, chat };
  const patience = { signal, mayBeAwayMs };
  const json = async (path: string, body?: object): Promise<unknown> =>
    (await sendTerminalRequest(place, path, body)).json();
  return {
    /**
     * Retries until the gateway has accepted the message. All attempts use the same id, so the
     * message counts only once.
     */
    async send(text: string) {
      const id: string = randomUUID();
      const taken = await retryUntilAnswered(() => json('/messages', { id, text }), patience);
      const { outcome } = Answer.parse(taken);
      return { id, kind: outcome.kind, reason: outcome.reason };
    },
    async history(): Promise<ChatHistory> {
      const { entries } = parseHistory(await retryUntilAnswered(() => json('/history'), patience));
      return entries.map((entry) => (entry.type === 'part' ? addFileLine(entry) : entry));
    },
    /**
     * Delivers live events until the signal aborts. Rejects with CliError if the gateway refuses
     * the connection.
     */
    async watch(listener: GatewayListener): Promise<void> {
      const away = createOutageTimer(mayBeAwayMs);
      const linked = () => {
        away.end();
        return listener.linked();
      };
      while (!signal.aborted) {
        try {
          await watchOnce(place, { ...listener, linked }, downloads);
        } catch (error) {
          if (error instanceof CliError) throw error;
        }
        if (signal.aborted) return;
        away.check();
        listener.lost();
        // The gateway may be restarting. An abort ends the pause and then the loop.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

function parseHistory(answer: unknown): z.infer<typeof History> {
  const { data, error } = History.safeParse(answer);
  if (data !== undefined) return data;
  throw new CliError(
    'status-unanswered',
    `The gateway sent a chat that this command does not understand (${z.prettifyError(error)}). It may be running another version of Parley. Restart it; nothing will be lost.`,
    error,
  );
}

interface RetryWindow {
  readonly signal: AbortSignal;
  readonly mayBeAwayMs: number;
}

/**
 * Retries until the request succeeds, because the gateway may be restarting. A refusal is final and
 * is thrown.
 */
async function retryUntilAnswered<T>(
  attempt: () => Promise<T>,
  { signal, mayBeAwayMs }: RetryWindow,
): Promise<T> {
  const away = createOutageTimer(mayBeAwayMs);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof CliError || signal.aborted) throw error;
      away.check();
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

/**
 * Measures how long the gateway has been unreachable. `check` is called after each failed attempt.
 */
function createOutageTimer(mayBeAwayMs: number) {
  let since: number | null = null;
  return {
    end(): void {
      since = null;
    },
    check(): void {
      since ??= systemTime.monotonic();
      if (systemTime.monotonic() - since < mayBeAwayMs) return;
      throw new CliError(
        'gateway-gone',
        `The gateway stopped and did not come back within ${Math.round(mayBeAwayMs / 1000)} s. Start it again and run "parley chat": messages that it had already stored will be answered.`,
      );
    },
  };
}

/** Sends a request to the terminal channel. Throws CliError if the gateway refuses it. */
async function sendTerminalRequest(
  { find, signal, chat }: TerminalRequestOptions,
  path: string,
  body?: object,
): Promise<Response> {
  const gateway = await find();
  if (gateway === null) throw new Error('no gateway is running right now');
  const query = new URLSearchParams({ chat });
  const response = await requestGateway(
    gateway,
    `/channels/terminal/default${path}?${query}`,
    signal,
    {
      body,
    },
  );
  if (response.ok) return response;
  const said = (await response.text()).trim();
  if (response.status >= 500) throw new Error(said);
  throw new CliError(
    'chat-refused',
    `The gateway at ${gateway.address} refused the request: ${said}`,
  );
}

async function watchOnce(
  place: TerminalRequestOptions,
  listener: GatewayListener,
  downloads: string,
): Promise<void> {
  const response = await sendTerminalRequest(place, '/events');
  if (response.body === null) return;
  await listener.linked();
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const event = Event.safeParse(JSON.parse(line.slice('data:'.length)));
      if (!event.success) continue;
      const { data } = event;
      if (data.type !== 'part' || data.file === undefined) listener.event(data);
      else listener.event(addFileLine(data, await savePartFile(place, data, downloads)));
    }
  }
}

/** Adds a line about the file of a message part, since a terminal cannot show the file. */
function addFileLine(part: z.infer<typeof Part>, saved?: string): z.infer<typeof Part> {
  if (part.file === undefined) return part;
  const line = `[File ${part.file.name ?? ''}${saved === undefined ? '' : `: ${saved}`}]`;
  return { ...part, text: [line, part.text].filter((text) => text !== '').join('\n') };
}

/**
 * Saves the file of a message part, and returns its path or the reason why it was not saved. The
 * file's name is untrusted.
 */
async function savePartFile(
  place: TerminalRequestOptions,
  { partId, file }: z.infer<typeof Part>,
  downloads: string,
): Promise<string> {
  const name = (file?.name ?? 'file').replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').replace(/^\.+/, '_');
  const path = join(downloads, `${partId.slice(-6)}-${name.slice(-100)}`);
  try {
    const response = await sendTerminalRequest(place, `/sent/${encodeURIComponent(partId)}`);
    await mkdir(downloads, { recursive: true, mode: 0o700 });
    await writeFile(path, await response.bytes(), { mode: 0o600 });
    return `saved as ${path}`;
  } catch (error) {
    return `not saved (${reasonOf(error)}); the page shows it`;
  }
}
