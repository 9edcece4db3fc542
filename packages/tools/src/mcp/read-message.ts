import { type Block, getOwnValue, toBlock } from './schema/json-block.ts';

/** A message of the protocol in the form the client library accepts. */
export type ReadableMessage =
  | {
      readonly jsonrpc: '2.0';
      readonly id: string | number;
      readonly method: string;
      params?: Block;
    }
  | { readonly jsonrpc: '2.0'; readonly method: string; params?: Block }
  | { readonly jsonrpc: '2.0'; readonly id: string | number; readonly result: Block }
  | {
      readonly jsonrpc: '2.0';
      readonly id: string | number;
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/**
 * The key under which a result keeps the server's original message; the library would reject the
 * whole result over a detail.
 */
export const AS_SENT = 'parley/as-sent';

/** Adapts a server's messages to the library's strict parser. */
export interface MessageReader {
  /** Records a request, because a response does not name its method. */
  sent(message: unknown): void;
  /** Returns the messages in a received value: none if it is not a message, several for a batch. */
  read(value: unknown): readonly ReadableMessage[];
}

/** The maximum number of pending requests that are remembered; some are never answered. */
const MAX_AWAITED = 1_000;
/** JSON-RPC's code for an internal error, used for errors without a code. */
const INTERNAL_ERROR = -32_603;

export function createMessageReader(): MessageReader {
  const awaited = new Map<string, string>();
  const methodOf = (id: string | number): string | undefined => {
    const method = awaited.get(String(id));
    awaited.delete(String(id));
    return method;
  };
  return {
    sent(message) {
      for (const one of Array.isArray(message) ? message : [message]) {
        const { id, method } = toBlock(one) ?? {};
        if (!isRequestId(id) || typeof method !== 'string') continue;
        awaited.set(String(id), method);
        const [oldest] = awaited.keys();
        if (awaited.size > MAX_AWAITED && oldest !== undefined) awaited.delete(oldest);
      }
    },
    read(value) {
      const all = Array.isArray(value) ? value : [value];
      return all.flatMap((one) => normalizeMessage(one, methodOf) ?? []);
    },
  };
}

function isRequestId(id: unknown): id is string | number {
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id));
}

/** Drops fields that are not part of the protocol. */
function normalizeMessage(
  value: unknown,
  methodOf: (id: string | number) => string | undefined,
): ReadableMessage | null {
  const said = Array.isArray(value) ? undefined : toBlock(value);
  if (said === undefined) return null;
  const { id, method } = said;
  if (typeof method === 'string') {
    const params = toBlock(said.params);
    const rest = params === undefined ? { method } : { method, params };
    return isRequestId(id) ? { jsonrpc: '2.0', id, ...rest } : { jsonrpc: '2.0', ...rest };
  }
  if (!isRequestId(id)) return null;
  const error = getOwnValue(said, 'error');
  if (error !== undefined && error !== null && error !== false) {
    return { jsonrpc: '2.0', id, error: normalizeError(error) };
  }
  if (!Object.hasOwn(said, 'result')) return null;
  return { jsonrpc: '2.0', id, result: normalizeResult(methodOf(id), said.result) };
}

function normalizeError(said: unknown): { code: number; message: string; data?: unknown } {
  const error = toBlock(said);
  if (error === undefined) return { code: INTERNAL_ERROR, message: String(said) };
  const { code, message, data } = error;
  const number = Number(code);
  return {
    code: Number.isInteger(number) && code !== null && code !== '' ? number : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : JSON.stringify(message ?? error),
    ...(data !== undefined && { data }),
  };
}

/** The fields that the library requires in a result; Parley parses the original itself. */
const EMPTY: Readonly<Record<string, Block>> = {
  'tools/list': { tools: [] },
  'prompts/list': { prompts: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'resources/read': { contents: [] },
  'tools/call': { content: [] },
  'prompts/get': { messages: [] },
};

function normalizeResult(method: string | undefined, said: unknown): Block {
  const result = toBlock(said);
  if (method === 'initialize') return normalizeInitializeResult(result ?? {});
  if (method === undefined || !Object.hasOwn(EMPTY, method)) return result ?? {};
  // The client library handles results that ask for further input.
  if (result?.resultType === 'input_required') return result;
  return {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    ...EMPTY[method],
    _meta: { [AS_SENT]: said },
  };
}

/** Protocol versions that start with `initialize`, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/**
 * Completes a server's response to `initialize` with what the library requires; missing
 * capabilities count as absent.
 */
function normalizeInitializeResult(said: Block): Block {
  const { protocolVersion, capabilities, serverInfo, instructions } = said;
  const info = toBlock(serverInfo) ?? {};
  const text = (value: unknown, otherwise: string) =>
    typeof value === 'string' && value !== '' ? value : otherwise;
  return {
    protocolVersion: findNearestVersion(protocolVersion),
    capabilities: normalizeCapabilities(capabilities),
    serverInfo: { name: text(info.name, 'unnamed'), version: text(info.version, '0') },
    ...(typeof instructions === 'string' && { instructions }),
  };
}

/**
 * Returns the newest known version that is not newer than the server's; dates in this format sort
 * as text.
 */
function findNearestVersion(said: unknown): string {
  const version = typeof said === 'string' ? said : '';
  return VERSIONS.find((known) => known <= version) ?? VERSIONS[0];
}

function normalizeCapabilities(said: unknown): Block {
  const named = Object.entries(toBlock(said) ?? {}).flatMap(([name, value]) => {
    const details = value === true ? {} : toBlock(value);
    return details === undefined ? [] : [[name, normalizeFlags(details)] as const];
  });
  return Object.fromEntries(named);
}

function normalizeFlags(details: Block): Block {
  const flags = ['listChanged', 'subscribe'].filter((name) => details[name] === true);
  return Object.fromEntries(flags.map((name) => [name, true]));
}
