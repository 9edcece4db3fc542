import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';

const Part = z.object({
  type: z.literal('part'),
  partId: z.string(),
  turnId: z.string().nullable(),
  text: z.string(),
});
const Inbound = z.object({
  type: z.literal('inbound'),
  messageId: z.string(),
  /** Null while it waits for its turn. */
  outcome: z.string().nullable().default(null),
});

/** What the terminal makes use of; events of other kinds are passed over. */
const Event = z.discriminatedUnion('type', [
  Part,
  Inbound,
  z.object({ type: z.literal('typing') }),
  z.object({ type: z.literal('stream'), turnId: z.string(), text: z.string() }),
  z.object({ type: z.literal('stream-end'), turnId: z.string() }),
]);
export type ChatEvent = z.infer<typeof Event>;

const History = z.object({ entries: z.array(z.discriminatedUnion('type', [Part, Inbound])) });
export type ChatHistory = z.infer<typeof History>['entries'];

const Answer = z.object({ outcome: z.object({ kind: z.string(), reason: z.string().optional() }) });

/** Where the gateway is now, or null while none runs; asked again at every try. */
export type FindGateway = () => Promise<{
  readonly address: string;
  readonly token: string;
} | null>;

/** A gateway as the terminal sees it: it may go away and come back at any time. */
export interface GatewayClient {
  /** Sends until the gateway says that it has the message; the same id each time, so that it counts once. */
  send(
    text: string,
  ): Promise<{ readonly id: string; readonly kind: string; readonly reason: string | undefined }>;
  history(): Promise<ChatHistory>;
  /** Live events until the signal fires. Rejects with CliError when the gateway refuses. */
  watch(listener: GatewayListener): Promise<void>;
}

/** What watching tells. */
export interface GatewayListener {
  /** At each (re)connection, before its first event. */
  linked(): Promise<void>;
  /** The gateway is away; it is looked for again and again. */
  lost(): void;
  event(event: ChatEvent): void;
}

const RETRY_MS = 500;

/** Talks to the terminal channel of a gateway until `signal` fires. */
export function createGatewayClient(find: FindGateway, signal: AbortSignal): GatewayClient {
  return {
    async send(text) {
      const id = randomUUID();
      const body = JSON.stringify({ id, text });
      const { outcome } = Answer.parse(
        await insist(() => call(find, signal, '/messages', body), signal),
      );
      return { id, kind: outcome.kind, reason: outcome.reason };
    },
    async history() {
      return History.parse(await insist(() => call(find, signal, '/history'), signal)).entries;
    },
    async watch(listener) {
      while (!signal.aborted) {
        try {
          await watchOnce(find, signal, listener);
        } catch (error) {
          if (error instanceof CliError) throw error;
        }
        if (signal.aborted) return;
        listener.lost();
        // The gateway may be restarting; an abort ends the wait and the loop.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

/** Tries until it works: the gateway may be restarting. A refusal is final and thrown. */
async function insist<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof CliError || signal.aborted) throw error;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

async function call(
  find: FindGateway,
  signal: AbortSignal,
  path: string,
  body?: string,
): Promise<unknown> {
  const response = await request(find, signal, path, body);
  return response.json();
}

async function request(
  find: FindGateway,
  signal: AbortSignal,
  path: string,
  body?: string,
): Promise<Response> {
  const gateway = await find();
  if (gateway === null) throw new Error('no gateway is running just now');
  const response = await fetch(`${gateway.address}/channels/terminal/default${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
    signal,
  });
  if (response.ok) return response;
  const said = (await response.text()).trim();
  if (response.status >= 500) throw new Error(said);
  throw new CliError('chat-refused', `The gateway at ${gateway.address} refused: ${said}`);
}

async function watchOnce(
  find: FindGateway,
  signal: AbortSignal,
  listener: GatewayListener,
): Promise<void> {
  const response = await request(find, signal, '/events');
  if (response.body === null) return;
  await listener.linked();
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const event = Event.safeParse(JSON.parse(line.slice('data:'.length)));
      if (event.success) listener.event(event.data);
    }
  }
}
