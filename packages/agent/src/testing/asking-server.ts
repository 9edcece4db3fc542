import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { silentLogger, systemTime } from '@parley/core';
import { type McpServers, openMcpServers } from '@parley/tools/mcp';

/*
 * For tests: an MCP server over HTTP (specification of July 2026) whose single tool asks questions
 * before it acts. The server keeps no state between requests; its questions are part of the state
 * that the client returns.
 */

/** The parameters of one request to call its tool. */
export interface RecordedToolCall {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  readonly capabilities: unknown;
}

/** The tool's questions in each round; after the last round the tool acts. */
export type QuestionRounds = readonly {
  readonly requests: Readonly<Record<string, object>>;
  readonly state: string;
}[];

export interface ElicitingServer {
  readonly url: string;
  /** All requests to call its tool. */
  readonly calls: readonly RecordedToolCall[];
  /** The requests after which the tool acted. */
  readonly acts: readonly RecordedToolCall[];
  close(): void;
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export async function startElicitingServer(rounds: QuestionRounds): Promise<ElicitingServer> {
  const calls: RecordedToolCall[] = [];
  const acts: RecordedToolCall[] = [];
  const server = createServer(async (request, response) => {
    // A client that gives up aborts its request.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const body = Buffer.concat(chunks).toString('utf8');
    if (body === '') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (method !== 'tools/call') return sendRpcResult(response, id, LISTS[method] ?? {});
    const { _meta: meta, name: _name, ...given } = params;
    const call: RecordedToolCall = { ...given, capabilities: meta[CAPABILITIES] };
    calls.push(call);
    const state = call.requestState;
    const next = state === undefined ? 0 : rounds.findIndex((one) => one.state === state) + 1;
    const round = rounds[next];
    if (round === undefined) {
      acts.push(call);
      return sendRpcResult(response, id, { content: [{ type: 'text', text: 'It is done.' }] });
    }
    const { requests: inputRequests, state: requestState } = round;
    sendRpcResult(response, id, { resultType: 'input_required', inputRequests, requestState });
  });
  return { url: await listenOnLoopback(server), calls, acts, close: () => closeServer(server) };
}

const LISTS: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/list': { tools: [{ name: 'book', inputSchema: { type: 'object' } }] },
};

function sendRpcResult(response: ServerResponse, id: unknown, result: object): void {
  const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { ...whole, ...result } }));
}

async function listenOnLoopback(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/mcp`;
}

function closeServer(server: Server): void {
  server.closeAllConnections();
  server.close();
}

/** Connects Parley with a new connection, as after a restart. */
export async function connectMcpServer(url: string): Promise<McpServers> {
  const peer = { kind: 'http', url, headers: {} } as const;
  const deps = { env: {}, ...systemTime, random: () => 0, log: silentLogger };
  const servers = openMcpServers([{ name: 'desk', peer }], deps);
  while (servers.views()[0]?.state.kind !== 'connected')
    await new Promise((resolve) => setTimeout(resolve, 10));
  return servers;
}
