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

/** A server that answers. */
export interface McpConnection {
  /** Queries all that it offers again. */
  list(signal: AbortSignal): Promise<McpCatalogue>;
  /** `reply`: of a call that is repeated because the server asked for something. */
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
  /** The resources that there are, and the forms of their addresses, as text. */
  resources(signal: AbortSignal): Promise<string>;
  /** The content of one. */
  resource(uri: string, signal: AbortSignal): Promise<McpResult>;
  /** Resolves with why it ended; never where that shows only when something is asked (HTTP). */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** The opening of the protocol: by asking for its version, as since July 2026, or by `initialize`. */
export type Opening = 'discover' | 'initialize';

/** The options of a client for its connection. */
export interface ClientOptions {
  readonly opening: Opening;
  /** Hears that what the server offers may have changed. */
  readonly onChange: () => void;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** A server that does not know the question, and says nothing, is an older one. In ms. */
const DISCOVER_MS = 2_000;
/** Every request ends by its signal; the library's own limit must not be before it. In ms. */
const NO_LIMIT_MS = 2_147_483_647;

/** Begins the protocol over a transport; rejects with the library's errors. */
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
  // What is not of the protocol is no reason to end anything.
  client.onerror = () => {};
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method.endsWith('/list_changed')) onChange();
  };
  await withinSignal(client.connect(transport, { signal, timeout: NO_LIMIT_MS }), signal);
  listenForChanges(client);
  return client;
}

/** Since July 2026 a server speaks of changes only to those who ask for it. */
function listenForChanges(client: Client): void {
  const { tools, prompts } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
  };
  if (client.getProtocolEra() !== 'modern' || Object.keys(filter).length === 0) return;
  // Without it a change is noticed at the next regular look.
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

/** The protocol over a connection that has begun. */
export interface ConnectionOf {
  readonly client: Client;
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
  /** Whether the server has said that it no longer knows the session. */
  readonly isSessionLost: () => boolean;
}

/** Asks a server for what Parley wants of it; every answer is read as the server sent it. */
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
      // Servers of the versions before ask while the call is open, which no person can be waited for in.
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
      // Some servers have tools and do not say so; none that says so can lack them.
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

/** The key of the client's capabilities in a request of July 2026 and later. */
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

const Sent = z.looseObject({ _meta: z.looseObject({}).optional() });

function asSent({ _meta: meta }: z.infer<typeof Sent>): unknown {
  return meta?.[AS_SENT];
}

/** Fires with the other, without its reason: that is none of the server's business. */
function privateSignal(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  if (signal.aborted) own.abort('given up');
  signal.addEventListener('abort', () => own.abort('given up'), { once: true });
  return own.signal;
}

const NONE: Listed = { items: [], problem: null };
/** Pages that are asked for; a server may say "more" for ever. */
const MAX_PAGES = 10;
/** For a server that has not said that it has what it is asked for. In ms. */
const UNSURE_MS = 5_000;

type Ask = (
  method: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<unknown>;

/** The key of each kind in an answer, and what it is asked with. */
const METHODS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const;
type Kind = keyof typeof METHODS;

/** All of one kind. A server that refuses one kind may have the others: the reason takes its place. */
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
      if (entries === null) return { items, problem: 'they are not listed as the protocol says' };
      items.push(...entries);
      cursor = nextCursor(said);
      if (cursor === undefined) return { items, problem: null };
      if (seen.has(cursor)) return { items, problem: 'it repeats a page of its list' };
      seen.add(cursor);
    }
    return { items, problem: `only the first ${MAX_PAGES} pages of its list are taken` };
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

/** A list, an object with one entry for each name, or nothing; null for all else. */
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
