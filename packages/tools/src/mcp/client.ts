import type { Client, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import {
  askingIn,
  CALL_CAPABILITIES,
  type McpAsking,
  type McpReply,
  replyParams,
} from './asking.ts';
import { type Listed, type McpCatalogue, readCatalogue } from './catalogue.ts';
import { askError, startReason } from './errors.ts';
import { AS_SENT } from './read-message.ts';
import { resourceList } from './resources.ts';
import { type McpResult, promptText, resourceText, resultText } from './results.ts';
import { blockOf } from './schema/json-block.ts';
import type { Arguments } from './schema/server-arguments.ts';

/** An open connection to a server. */
export interface McpConnection {
  /** Asks the server for its lists of tools and prompts again. */
  list(signal: AbortSignal): Promise<McpCatalogue>;
  /** Calls a tool; `reply` repeats a call before which the server asked a question. */
  call(
    tool: string,
    input: Arguments,
    signal: AbortSignal,
    reply?: McpReply,
  ): Promise<McpResult | McpAsking>;
  prompt(
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** The resources and resource templates, as text. */
  resources(signal: AbortSignal): Promise<string>;
  /** The content of one resource. */
  resource(uri: string, signal: AbortSignal): Promise<McpResult>;
  /**
   * Resolves with the reason when the connection ends; over HTTP it never resolves if only the next
   * request would reveal the end.
   */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/**
 * How the protocol starts: by asking for the server's version (July 2026 and later), or with
 * `initialize`.
 */
export type Opening = 'discover' | 'initialize';

/** The options of a client. */
export interface ClientOptions {
  readonly opening: Opening;
  /** Called when the server's lists may have changed. */
  readonly onChange: () => void;
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal;
}

/** How long a server may ignore the version request before it counts as an older one, in ms. */
const DISCOVER_MS = 2_000;
/**
 * Requests are canceled by their signal, so the library's own timeout is set to the maximum, in ms.
 */
const NO_LIMIT_MS = 2_147_483_647;

/** Starts the protocol over a transport; rejects with the library's errors. */
export async function openClient(
  transport: Transport,
  { opening, onChange, signal }: ClientOptions,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client');
  signal.throwIfAborted();
  const client = new Client(
    { name: 'parley', version: '1' },
    {
      capabilities: {},
      versionNegotiation:
        opening === 'discover'
          ? { mode: 'auto', probe: { timeoutMs: DISCOVER_MS } }
          : { mode: 'legacy' },
    },
  );
  // Messages outside the protocol must not end the connection.
  client.onerror = () => {};
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method.endsWith('/list_changed')) onChange();
  };
  await withinSignal(client.connect(transport, { signal, timeout: NO_LIMIT_MS }), signal);
  listenForChanges(client);
  return client;
}

/** Servers of July 2026 and later report changes only on request. */
function listenForChanges(client: Client): void {
  const { tools, prompts } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
  };
  if (client.getProtocolEra() !== 'modern' || Object.keys(filter).length === 0) return;
  // If this fails, the next regular poll notices the change.
  client.listen(filter).catch(() => {});
}

async function withinSignal<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** An initialized client and the state of its connection. */
export interface ConnectionOf {
  readonly client: Client;
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
  /** Whether the server has reported that it no longer knows the session. */
  readonly isSessionLost: () => boolean;
}

/** Implements a connection over a client; every response is read as the server sent it. */
export function connectionOf(of: ConnectionOf): McpConnection {
  const { client, ended, close } = of;
  const request = async (
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    allowInputRequired = false,
  ) => {
    const given = privateSignal(signal);
    try {
      const options = { signal: given, timeout: NO_LIMIT_MS, allowInputRequired };
      return await client.request({ method, params }, Sent, options);
    } catch (error) {
      throw askError(error, of.isSessionLost());
    }
  };
  const ask: Ask = async (...asked) => asSent(await request(...asked));
  const call: McpConnection['call'] = async (name, input, signal, reply) => {
    const isModern = client.getProtocolEra() === 'modern';
    const params = {
      ...{ name, arguments: { ...input }, ...replyParams(reply) },
      // Older servers ask while the call is open, and an open call cannot wait for a person.
      ...(isModern && { _meta: { [CAPABILITIES_KEY]: CALL_CAPABILITIES } }),
    };
    const said = await request('tools/call', params, signal, isModern);
    return (isModern ? askingIn(said) : null) ?? resultText(asSent(said));
  };
  return {
    ended,
    close,
    list: async (signal) => {
      const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
      // Some servers have tools without declaring them; a declared capability is always queried.
      const [toolList, promptList] = await Promise.all([
        listAll(ask, 'tools', tools !== undefined, signal),
        prompts === undefined ? NONE : listAll(ask, 'prompts', true, signal),
      ]);
      return readCatalogue(toolList, promptList, resources !== undefined);
    },
    call,
    resources: async (signal) => {
      const [resources, resourceTemplates] = await Promise.all([
        listAll(ask, 'resources', true, signal),
        listAll(ask, 'resourceTemplates', true, signal),
      ]);
      return resourceList(resources, resourceTemplates);
    },
    resource: async (uri, signal) => resourceText(await ask('resources/read', { uri }, signal)),
    prompt: async (name, input, signal) =>
      promptText(await ask('prompts/get', { name, arguments: { ...input } }, signal)),
  };
}

/** The key of the client's capabilities in requests of July 2026 and later. */
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

const Sent = z.looseObject({ _meta: z.looseObject({}).optional() });

function asSent({ _meta: meta }: z.infer<typeof Sent>): unknown {
  return meta?.[AS_SENT];
}

/**
 * A signal that fires with the given one but hides its reason, which does not concern the server.
 */
function privateSignal(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  if (signal.aborted) own.abort('given up');
  signal.addEventListener('abort', () => own.abort('given up'), { once: true });
  return own.signal;
}

const NONE: Listed = { items: [], problem: null };
/** The maximum number of pages requested; a server may report further pages forever. */
const MAX_PAGES = 10;
/** The deadline for listing what a server has not declared, in ms. */
const UNSURE_MS = 5_000;

type Ask = (
  method: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<unknown>;

/** The method that lists each kind, keyed by its field in the response. */
const METHODS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const;
type Kind = keyof typeof METHODS;

/**
 * Lists all entries of one kind. A server that refuses one kind may offer others, so the reason is
 * returned as a problem.
 */
async function listAll(
  ask: Ask,
  kind: Kind,
  isSure: boolean,
  signal: AbortSignal,
): Promise<Listed> {
  const limited = isSure ? signal : AbortSignal.any([signal, AbortSignal.timeout(UNSURE_MS)]);
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const said = await ask(METHODS[kind], cursor === undefined ? {} : { cursor }, limited);
      const entries = readEntries(said, kind);
      if (entries === null) return { items, problem: 'the list violates the protocol' };
      items.push(...entries);
      cursor = nextCursor(said);
      if (cursor === undefined) return { items, problem: null };
      if (seen.has(cursor)) return { items, problem: 'it repeats a page of its list' };
      seen.add(cursor);
    }
    return { items, problem: `only the first ${MAX_PAGES} pages of its list are read` };
  } catch (error) {
    signal.throwIfAborted();
    if (!isSure) return NONE;
    if (!isRefusal(error)) throw error;
    return { items, problem: startReason(error) };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'mcp-refused';
}

/** Accepts a list, an object with one entry per name, or null; returns null for anything else. */
export function readEntries(said: unknown, kind: Kind): readonly unknown[] | null {
  if (Array.isArray(said)) return said;
  const block = blockOf(said);
  if (block === undefined) return null;
  const all = block[kind];
  if (Array.isArray(all)) return all;
  if (all === null) return [];
  const named = blockOf(all);
  if (named === undefined) return null;
  return Object.entries(named).map(([name, entry]) => ({ name, ...blockOf(entry) }));
}

function nextCursor(said: unknown): string | undefined {
  const cursor = blockOf(said)?.nextCursor;
  if (typeof cursor === 'number') return String(cursor);
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}
