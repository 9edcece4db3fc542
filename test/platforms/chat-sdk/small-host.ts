import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ChangeNotifier } from '@parley/simulators/telegram';
import type { ChatInstance, Message, StateAdapter, WebhookOptions } from 'chat';

/** The parts of an adapter that the host needs, whichever version of `chat` its package uses. */
interface HostedAdapter {
  initialize(chat: never): Promise<void>;
  handleWebhook(request: Request, options?: WebhookOptions): Promise<Response>;
}

type ProcessedAction = Parameters<ChatInstance['processAction']>[0];
type ProcessedReaction = Parameters<ChatInstance['processReaction']>[0];
type ProcessedEdit = Parameters<ChatInstance['processMessageUpdated']>[0];
type ProcessedDeletion = Parameters<ChatInstance['processMessageDeleted']>[0];
type ProcessedCommand = Parameters<ChatInstance['processSlashCommand']>[0];

/** An adapter behind a web server on loopback, with all events it has passed on. */
export interface SmallHost {
  /** The address of the adapter's webhook. */
  readonly url: string;
  readonly messages: readonly { readonly threadId: string; readonly message: Message }[];
  readonly actions: readonly ProcessedAction[];
  readonly reactions: readonly ProcessedReaction[];
  readonly edits: readonly ProcessedEdit[];
  readonly deletions: readonly ProcessedDeletion[];
  readonly commands: readonly ProcessedCommand[];
  waitFor<T>(look: () => T | undefined | false): Promise<T>;
  close(): Promise<void>;
}

const WITHIN_MS = 30_000;

/**
 * Initializes a real adapter with a minimal `ChatInstance` that records all events, so that the
 * doubles are tested without Parley.
 */
export async function hostAdapter(adapter: HostedAdapter): Promise<SmallHost> {
  const messages: { threadId: string; message: Message }[] = [];
  const actions: ProcessedAction[] = [];
  const reactions: ProcessedReaction[] = [];
  const edits: ProcessedEdit[] = [];
  const deletions: ProcessedDeletion[] = [];
  const commands: ProcessedCommand[] = [];
  const changes = new ChangeNotifier(
    () => `${messages.length} messages, ${actions.length} actions`,
  );
  const done = <T>(list: T[], item: T, options: WebhookOptions | undefined): Promise<void> => {
    list.push(item);
    changes.changed();
    const task = Promise.resolve();
    // The Teams adapter answers a direct message only once its task has been handed over.
    options?.waitUntil?.(task);
    return task;
  };
  const state = createMapState();
  const chat: Partial<ChatInstance> = {
    getState: () => state,
    getLogger: () => SILENT,
    getUserName: () => 'parley',
    processMessage: async (_adapter, threadId, message, options) => {
      const parsed = typeof message === 'function' ? await message() : message;
      await done(messages, { threadId, message: parsed }, options);
    },
    processAction: (action, options) => done(actions, action, options),
    processReaction: (reaction, options) => done(reactions, reaction, options),
    processMessageUpdated: (edit, options) => done(edits, edit, options),
    processMessageDeleted: (deletion, options) => done(deletions, deletion, options),
    processSlashCommand: (command, options) => done(commands, command, options),
    processMemberJoinedChannel: () => {},
    processInstalled: () => {},
    processUninstalled: () => {},
  };
  await adapter.initialize(chat as never);
  const server = createServer(async (request, response) => {
    // A client that gives up aborts its request.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const body = Buffer.concat(chunks);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const { method = 'GET' } = request;
    const called = new Request(`http://127.0.0.1${request.url}`, {
      method,
      headers,
      ...(method === 'GET' ? {} : { body }),
    });
    const answer = await adapter.handleWebhook(called, { waitUntil: () => {} });
    const answered = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    messages,
    actions,
    reactions,
    edits,
    deletions,
    commands,
    waitFor: (look) => changes.waitFor(look, WITHIN_MS),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A logger that writes nothing. */
export const SILENT = {
  child: () => SILENT,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** The part of the state used by the adapters; it lasts as long as the host. */
function createMapState(): StateAdapter {
  const values = new Map<string, unknown>();
  const state: Partial<StateAdapter> = {
    connect: async () => {},
    disconnect: async () => {},
    get: async <T>(key: string) => (values.get(key) ?? null) as T | null,
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
    setIfNotExists: async (key, value) => {
      if (values.has(key)) return false;
      values.set(key, value);
      return true;
    },
    getList: async <T>(key: string) => (values.get(key) ?? []) as T[],
    appendToList: async (key, value) => {
      values.set(key, [...((values.get(key) ?? []) as unknown[]), value]);
    },
    isSubscribed: async () => false,
  };
  return state as StateAdapter;
}
