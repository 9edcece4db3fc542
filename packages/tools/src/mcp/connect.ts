import type { MCPClient } from '@ai-sdk/mcp';
import { ParleyError, type ParleyErrorInit, reasonOf } from '@parley/core';
import { z } from 'zod';
import { boundedFetch, LARGEST_MESSAGE } from './bounds.ts';
import {
  type McpCatalogue,
  type McpResult,
  promptText,
  readCatalogue,
  resultText,
} from './catalogue.ts';
import { cleanLine } from './clean.ts';
import {
  type McpPeer,
  type McpServerConfig,
  type ServerProcess,
  startServerProcess,
  stdioTransport,
} from './transport.ts';

/** A server that answers. */
export interface McpConnection {
  /** Queries all that it offers again. */
  list(signal: AbortSignal): Promise<McpCatalogue>;
  call(tool: string, input: Arguments, signal: AbortSignal): Promise<McpResult>;
  prompt(
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Resolves with why it ended; never where that shows only when something is asked (HTTP). */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** Arguments of a call, checked by then. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What connecting needs from outside. */
interface ConnectOptions {
  /** The environment of Parley, of which a server is given very little. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears that what the server offers may have changed. */
  readonly onChange: () => void;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** Makes a connection to a server; throws McpError when it cannot be reached. */
export type Connect = (config: McpServerConfig, options: ConnectOptions) => Promise<McpConnection>;

/** Connects over stdio or HTTP. The protocol is loaded here and not before (D03). */
export const connect: Connect = async ({ peer }, options) => {
  try {
    return peer.kind === 'stdio' ? await overStdio(peer, options) : await overHttp(peer, options);
  } catch (error) {
    const message = cleanLine(reasonOf(error), 600);
    throw new McpError({ code: 'mcp-start', message, retryable: true, cause: error });
  }
};

async function overStdio(
  peer: Extract<McpPeer, { kind: 'stdio' }>,
  { env, onChange, signal }: ConnectOptions,
): Promise<McpConnection> {
  const { createMCPClient, validateJSONRPCMessage } = await import('@ai-sdk/mcp');
  signal.throwIfAborted();
  const server = await startOrWhy(peer, env);
  const onNotice = (method: string): void => {
    if (method.endsWith('/list_changed')) onChange();
  };
  const transport = stdioTransport({ server, parse: validateJSONRPCMessage, onNotice });
  try {
    const client = await createMCPClient({
      transport,
      clientName: 'parley',
      initializationOptions: { signal },
    });
    const close = async (): Promise<void> => {
      await client.close();
      // A client whose connection has ended closes nothing any more.
      await server.end();
    };
    return connectionOf(client, transport.ended, close);
  } catch (error) {
    await server.end();
    // "Connection closed" says less than how the process ended.
    const how = await Promise.race([transport.ended, error]);
    throw typeof how === 'string' && how !== 'it was closed' ? new Error(how) : error;
  }
}

async function startOrWhy(
  peer: Extract<McpPeer, { kind: 'stdio' }>,
  env: ConnectOptions['env'],
): Promise<ServerProcess> {
  try {
    return await startServerProcess(peer, env);
  } catch (error) {
    const { code } = z.object({ code: z.string() }).safeParse(error).data ?? { code: '' };
    if (code !== 'ENOENT') throw error;
    const where = peer.cwd === undefined ? '' : `, or no folder ${peer.cwd}`;
    throw new Error(`there is no program ${peer.command}${where}`);
  }
}

async function overHttp(
  { url, headers }: Extract<McpPeer, { kind: 'http' }>,
  { signal }: ConnectOptions,
): Promise<McpConnection> {
  const { createMCPClient } = await import('@ai-sdk/mcp');
  const fetch = boundedFetch(globalThis.fetch, LARGEST_MESSAGE);
  const client = await createMCPClient({
    // A redirect could carry the headers, and with them a secret, somewhere else.
    transport: { type: 'http', url, headers: { ...headers }, redirect: 'error', fetch },
    clientName: 'parley',
    initializationOptions: { signal },
  });
  const never = Promise.withResolvers<string>().promise;
  return connectionOf(client, never, () => client.close());
}

/** Pages that are asked for; a server may say "more" for ever. */
const MOST_PAGES = 10;

function connectionOf(
  client: MCPClient,
  ended: Promise<string>,
  close: () => Promise<void>,
): McpConnection {
  const { capabilities } = client.initializeResult;
  return {
    ended,
    close,
    async list(signal) {
      const options = { signal };
      const [tools, prompts] = await Promise.all([
        capabilities.tools === undefined
          ? []
          : allPages(async (params) => {
              const { tools: items, nextCursor } = await client.listTools({ params, options });
              return { items, nextCursor };
            }),
        capabilities.prompts === undefined
          ? []
          : allPages(async (params) => {
              const { prompts: items, nextCursor } = await client.listPrompts({ params, options });
              return { items, nextCursor };
            }),
      ]);
      return readCatalogue(tools, prompts);
    },
    async call(name, input, signal) {
      const said = await answered(() =>
        client.callTool({ name, arguments: { ...input }, options: { signal } }),
      );
      return resultText(said);
    },
    async prompt(name, input, signal) {
      const said = await answered(() =>
        client.getPrompt({ name, arguments: { ...input }, options: { signal } }),
      );
      return promptText(said);
    },
  };
}

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor?: string | undefined;
}

async function allPages(
  ask: (params: { cursor?: string }) => Promise<Page>,
): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, nextCursor } = await ask(cursor === undefined ? {} : { cursor });
    all.push(...items);
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return all;
}

/** An error that the server sent is one thing, a connection that is lost another. */
async function answered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const { code } = z.object({ code: z.number() }).safeParse(error).data ?? {};
    const message = cleanLine(reasonOf(error), 600);
    if (code !== undefined) {
      throw new McpError({ code: 'mcp-refused', message, retryable: false, cause: error });
    }
    if (/process server response|parse server response/i.test(message)) {
      const message = 'its answer is not as the protocol says';
      throw new McpError({ code: 'mcp-answer', message, retryable: false, cause: error });
    }
    throw new McpError({ code: 'mcp-lost', message, retryable: false, cause: error });
  }
}

/**
 * What can go wrong with a server. `mcp-not-connected`: nothing was sent. `mcp-lost`: something was
 * sent, and the connection ended before the answer. `mcp-refused`: the server answered with an error.
 * `mcp-answer`: its answer is not what the protocol says. `mcp-start`: it could not be reached.
 */
export type McpErrorCode =
  | 'mcp-not-connected'
  | 'mcp-lost'
  | 'mcp-refused'
  | 'mcp-answer'
  | 'mcp-start';

/** An error of a server, as a text for people. */
export class McpError extends ParleyError {
  constructor(init: ParleyErrorInit & { readonly code: McpErrorCode }) {
    super(init);
  }
}
