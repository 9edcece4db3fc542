import type { Client, Transport } from '@modelcontextprotocol/client';
import { rejectOnAbort } from '@parley/core';
import { z } from 'zod';
import {
  CALL_CAPABILITIES,
  createReplyParams,
  type McpInputRequest,
  type McpReply,
  parseInputRequest,
} from './asking.ts';
import { type ListedEntries, type McpCatalog, parseCatalog } from './catalogue.ts';
import { describeStartFailure, toRequestError } from './errors.ts';
import { AS_SENT } from './read-message.ts';
import { formatResources } from './resources.ts';
import { formatPrompt, formatResourceContent, formatResult, type McpResult } from './results.ts';
import { toBlock } from './schema/json-block.ts';
import type { CallArguments } from './schema/server-arguments.ts';

/** An open connection to a server. */
export interface McpConnection {
  /** Requests the server's lists of tools and prompts again. */
  list(signal: AbortSignal): Promise<McpCatalog>;
  /** Calls a tool; `reply` repeats a call for which the server asked a question. */
  call(
    tool: string,
    input: CallArguments,
    signal: AbortSignal,
    reply?: McpReply,
  ): Promise<McpResult | McpInputRequest>;
  prompt(
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  resources(signal: AbortSignal): Promise<string>;
  resource(uri: string, signal: AbortSignal): Promise<McpResult>;
  /**
   * Resolves with the reason when the connection ends; over HTTP it never resolves if only the next
   * request would reveal the end.
   */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/**
 * How the connection starts: with the version request (July 2026 and later), or with `initialize`.
 */
export type ProtocolOpening = 'discover' | 'initialize';

export interface ClientOptions {
  readonly opening: ProtocolOpening;
  /** Called when the server's lists may have changed. */
  readonly onChange: () => void;
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal;
}

/** How long a server may ignore the version request before it counts as an older server, in ms. */
const DISCOVER_MS = 2_000;
/**
 * Requests are canceled by their signal, so the library's own timeout is set to its maximum, in ms.
 */
const NO_LIMIT_MS = 2_147_483_647;

/** Connects a client over a transport; rejects with the library's errors. */
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
  await rejectOnAbort(client.connect(transport, { signal, timeout: NO_LIMIT_MS }), signal);
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
  // If the subscription fails, the next regular poll detects the change.
  client.listen(filter).catch(() => {});
}

/** An initialized client and the state of its connection. */
export interface ConnectionState {
  readonly client: Client;
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
  /** Whether the server has reported that it no longer knows the session. */
  readonly isSessionLost: () => boolean;
}

/**
 * Implements a connection over a client; every response is read in the form in which the server
 * sent it.
 */
export function createConnection(of: ConnectionState): McpConnection {
  const { client, ended, close } = of;
  const request = async (
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    allowInputRequired = false,
  ) => {
    const given = createPrivateSignal(signal);
    try {
      const options = { signal: given, timeout: NO_LIMIT_MS, allowInputRequired };
      return await client.request({ method, params }, Sent, options);
    } catch (error) {
      throw toRequestError(error, of.isSessionLost());
    }
  };
  const ask: SendMcpRequest = async (...asked) => toSentResult(await request(...asked));
  const call: McpConnection['call'] = async (name, input, signal, reply) => {
    const isModern = client.getProtocolEra() === 'modern';
    const params = {
      ...{ name, arguments: { ...input }, ...createReplyParams(reply) },
      // Older servers ask questions while the call is open, and an open call cannot wait for a
      // person.
      ...(isModern && { _meta: { [CAPABILITIES_KEY]: CALL_CAPABILITIES } }),
    };
    const said = await request('tools/call', params, signal, isModern);
    return (isModern ? parseInputRequest(said) : null) ?? formatResult(toSentResult(said));
  };
  return {
    ended,
    close,
    list: async (signal) => {
      const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
      // Some servers have tools without declaring them, so tools are always requested; other kinds
      // are requested if declared.
      const [toolList, promptList] = await Promise.all([
        listAllEntries(ask, 'tools', tools !== undefined, signal),
        prompts === undefined ? NONE : listAllEntries(ask, 'prompts', true, signal),
      ]);
      return parseCatalog(toolList, promptList, resources !== undefined);
    },
    call,
    resources: async (signal) => {
      const [resources, resourceTemplates] = await Promise.all([
        listAllEntries(ask, 'resources', true, signal),
        listAllEntries(ask, 'resourceTemplates', true, signal),
      ]);
      return formatResources(resources, resourceTemplates);
    },
    resource: async (uri, signal) =>
      formatResourceContent(await ask('resources/read', { uri }, signal)),
    prompt: async (name, input, signal) =>
      formatPrompt(await ask('prompts/get', { name, arguments: { ...input } }, signal)),
  };
}

/** The key under which requests of July 2026 and later state the client's capabilities. */
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

const Sent = z.looseObject({ _meta: z.looseObject({}).optional() });

function toSentResult({ _meta: meta }: z.infer<typeof Sent>): unknown {
  return meta?.[AS_SENT];
}

/**
 * A signal that fires with the given one but hides its reason, which does not concern the server.
 */
function createPrivateSignal(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  if (signal.aborted) own.abort('given up');
  signal.addEventListener('abort', () => own.abort('given up'), { once: true });
  return own.signal;
}

const NONE: ListedEntries = { items: [], problem: null };
/** The maximum number of pages requested, because a server may report further pages forever. */
const MAX_PAGES = 10;
/** The deadline for listing a kind that a server has not declared, in ms. */
const UNSURE_MS = 5_000;

type SendMcpRequest = (
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
type ListKind = keyof typeof METHODS;

/**
 * Lists all entries of one kind. A server that refuses one kind may offer others, so the reason is
 * returned as a problem.
 */
async function listAllEntries(
  ask: SendMcpRequest,
  kind: ListKind,
  isSure: boolean,
  signal: AbortSignal,
): Promise<ListedEntries> {
  const limited = isSure ? signal : AbortSignal.any([signal, AbortSignal.timeout(UNSURE_MS)]);
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const said = await ask(METHODS[kind], cursor === undefined ? {} : { cursor }, limited);
      const entries = toEntryList(said, kind);
      if (entries === null) return { items, problem: 'the list violates the protocol' };
      items.push(...entries);
      cursor = findNextCursor(said);
      if (cursor === undefined) return { items, problem: null };
      if (seen.has(cursor)) return { items, problem: 'it repeats a page of its list' };
      seen.add(cursor);
    }
    return { items, problem: `only the first ${MAX_PAGES} pages of its list are read` };
  } catch (error) {
    signal.throwIfAborted();
    if (!isSure) return NONE;
    if (!isMethodRefused(error)) throw error;
    return { items, problem: describeStartFailure(error) };
  }
}

function isMethodRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'mcp-refused';
}

/** Accepts a list, an object with one entry per name, or null; returns null for anything else. */
export function toEntryList(said: unknown, kind: ListKind): readonly unknown[] | null {
  if (Array.isArray(said)) return said;
  const block = toBlock(said);
  if (block === undefined) return null;
  const all = block[kind];
  if (Array.isArray(all)) return all;
  if (all === null) return [];
  const named = toBlock(all);
  if (named === undefined) return null;
  return Object.entries(named).map(([name, entry]) => ({ name, ...toBlock(entry) }));
}

function findNextCursor(said: unknown): string | undefined {
  const cursor = toBlock(said)?.nextCursor;
  if (typeof cursor === 'number') return String(cursor);
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}
