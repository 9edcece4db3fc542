import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createSlackAdapter, type SlackAdapterConfig } from '@chat-adapter/slack';
import type { Adapter, ChatInstance, Logger, Message, StateAdapter } from 'chat';
import { end, listen } from '../../loopback.ts';
import type { SlackDouble } from '../slack-double.ts';
import { SILENT } from './slack-client.ts';

/** What the adapter told its host. */
export type HostEvent =
  | { readonly kind: 'message'; readonly threadId: string; readonly message: Message }
  | { readonly kind: 'updated' | 'deleted'; readonly threadId: string }
  | { readonly kind: 'action'; readonly actionId: string; readonly value: string | undefined }
  | { readonly kind: 'reaction'; readonly emoji: string; readonly added: boolean }
  | { readonly kind: 'command'; readonly command: string; readonly text: string };

const nothing = () => undefined;
const LOGGER: Logger = {
  ...{ debug: nothing, info: nothing, warn: nothing, error: nothing },
  child: () => LOGGER,
};

/** The real Slack adapter of the Chat SDK, connected to a double; the host only writes down. */
export async function hostAdapter(double: SlackDouble, more: SlackAdapterConfig = {}) {
  const adapter = createSlackAdapter({
    ...{ apiUrl: double.apiUrl, botToken: double.botToken, logger: LOGGER },
    ...(more.mode === 'socket'
      ? { appToken: double.appToken }
      : { signingSecret: double.signingSecret }),
    webClientOptions: { retryConfig: { retries: 0 }, logger: SILENT },
    ...more,
  });
  const heard: HostEvent[] = [];
  await adapter.initialize(recordingHost(heard, () => double.transcript.changes.changed()));
  return { adapter, heard };
}

/** A server that hands requests to the adapter. */
export async function serveAdapter(adapter: Pick<Adapter, 'handleWebhook'>) {
  const server = createServer(async (request, response) => {
    const tasks: Promise<unknown>[] = [];
    const answer = await adapter.handleWebhook(
      new Request(`http://127.0.0.1${request.url}`, {
        ...{ method: 'POST', duplex: 'half', body: Readable.toWeb(request) as ReadableStream },
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      }),
      { waitUntil: (task) => void tasks.push(task) },
    );
    await Promise.allSettled(tasks);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
  const port = await listen(server, 0);
  return { url: `http://127.0.0.1:${port}/slack`, close: () => end(server) };
}

/** The part of `ChatInstance` that the Slack adapter calls for what people do. */
function recordingHost(heard: HostEvent[], changed: () => void): ChatInstance {
  const hear = (one: HostEvent) => {
    heard.push(one);
    changed();
  };
  const host: Partial<ChatInstance> = {
    getLogger: () => LOGGER,
    getState: memoryState,
    getUserName: () => 'Parley',
    async processMessage(_adapter, threadId, message) {
      const read = typeof message === 'function' ? await message() : message;
      hear({ kind: 'message', threadId, message: read });
    },
    processMessageUpdated: async ({ threadId }) => hear({ kind: 'updated', threadId }),
    processMessageDeleted: async ({ threadId }) => hear({ kind: 'deleted', threadId }),
    processAction: async ({ actionId, value }) => hear({ kind: 'action', actionId, value }),
    processReaction: ({ rawEmoji, added }) => hear({ kind: 'reaction', emoji: rawEmoji, added }),
    processSlashCommand: ({ command, text }) => hear({ kind: 'command', command, text }),
  };
  // The rest is not called for what the tests do.
  return host as ChatInstance;
}

function memoryState(): StateAdapter {
  const values = new Map<string, unknown>();
  const state: Partial<StateAdapter> = {
    get: async (key) => (values.get(key) as never) ?? null,
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
    async setIfNotExists(key, value) {
      if (values.has(key)) return false;
      values.set(key, value);
      return true;
    },
    getList: async () => [],
    appendToList: async () => undefined,
    isSubscribed: async () => false,
  };
  return state as StateAdapter;
}
