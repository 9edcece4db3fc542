import { createRequire as requireFrom } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { guarded } from '@parley/channels';
import { type Logger, ParleyError, reasonOf } from '@parley/core';
import { z } from 'zod';
import { createClientLogger } from './slack.ts';

/** The part of Slack's socket client that Parley uses. */
interface SocketClient {
  start(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  on(event: string, listener: (argument: unknown) => void): unknown;
}

export interface SocketDeps {
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  /** The adapter accepts events from the socket only with this secret. */
  readonly secret: string;
  /** Passes an event to the adapter; resolves to 200 once the event is stored. */
  readonly deliver: (request: Request) => Promise<Response>;
  readonly log: Logger;
}

const Envelope = z.object({
  type: z.string(),
  body: z.unknown(),
  retry_num: z.number().optional(),
  ack: z.custom<() => Promise<void>>((value) => typeof value === 'function'),
});
/** The time limit (ms) for opening and for closing a connection. */
const [OPEN_WITHIN_MS, CLOSE_WITHIN_MS] = [15_000, 5_000];

/**
 * Slack's socket mode. The adapter's own implementation acknowledges an event before handling it,
 * so a crash would lose the event. Here, each event is passed to the adapter as a request and
 * acknowledged only once it is stored. Otherwise, Slack sends it again.
 */
export class SlackSocket {
  readonly #deps: SocketDeps;

  constructor(deps: SocketDeps) {
    this.#deps = deps;
  }

  /**
   * Opens a connection, calls `opened`, and resolves when the connection ends or the signal is
   * aborted. Rejects if the connection cannot be opened.
   */
  async hold(opened: () => void, signal: AbortSignal): Promise<void> {
    const client = await this.#client();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    client.on('disconnected', guarded('socket-closed', end));
    client.on(
      'slack_event',
      guarded('socket-event', (event: unknown) => this.#received(event)),
    );
    signal.addEventListener('abort', end, { once: true });
    const timeout = AbortSignal.timeout(OPEN_WITHIN_MS);
    timeout.addEventListener('abort', end, { once: true });
    let isOpen = false;
    try {
      const starting = client.start().then(() => {
        isOpen = true;
      });
      await Promise.race([starting, ended]);
      timeout.removeEventListener('abort', end);
      if (!isOpen) throw new Error('Slack did not open a connection');
      opened();
      await ended;
    } finally {
      signal.removeEventListener('abort', end);
      timeout.removeEventListener('abort', end);
      await this.#close(client);
    }
  }

  async #received(event: unknown): Promise<void> {
    const { deliver, secret, log } = this.#deps;
    const envelope = Envelope.safeParse(event);
    if (!envelope.success) return;
    const { type, body, retry_num: retryNum, ack } = envelope.data;
    const response = await deliver(
      new Request('http://slack.socket/', {
        method: 'POST',
        headers: { 'x-slack-socket-token': secret, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'socket_event', body, eventType: type, retryNum }),
      }),
    );
    if (response.status !== 200) return;
    await ack().catch((error: unknown) => {
      // Slack sends the event again on the next connection, and the inbox recognizes the repeat.
      log.debug({ reason: reasonOf(error) }, 'an event could not be acknowledged');
    });
  }

  async #close(client: SocketClient): Promise<void> {
    const late = sleep(CLOSE_WITHIN_MS, undefined, { ref: false });
    await Promise.race([client.disconnect().catch(() => undefined), late]);
  }

  /**
   * The socket client is a dependency of the adapter, so it may be installed inside the adapter's
   * folder or beside it.
   */
  async #client(): Promise<SocketClient> {
    const { appToken, apiUrl, log } = this.#deps;
    const near = requireFrom(import.meta.resolve('@chat-adapter/slack'));
    const path = pathToFileURL(near.resolve('@slack/socket-mode')).href;
    const { SocketModeClient } = (await import(path)) as {
      SocketModeClient: new (options: object) => SocketClient;
    };
    return new SocketModeClient({
      appToken,
      logger: createClientLogger(log),
      // The client's automatic reconnect fails silently.
      autoReconnectEnabled: false,
      clientOptions: {
        retryConfig: { retries: 0 },
        ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
      },
    });
  }
}

/** The token for socket mode; undefined if the options choose webhooks. */
export function getSocketToken(options: Readonly<Record<string, unknown>>): string | undefined {
  const { mode, appToken } = options;
  if (mode !== 'socket') return undefined;
  if (typeof appToken === 'string') return appToken;
  throw new ParleyError({
    code: 'chat-sdk-slack-app-token',
    message:
      "Slack's socket mode requires the option appToken, which is the app-level token xapp-… of the app.",
    retryable: false,
  });
}
