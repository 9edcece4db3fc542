import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type McpServers, openMcpServers } from './servers.ts';

/** A request as the server receives it. */
interface Asked {
  readonly id?: number | string | undefined;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
}

type Respond = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

let started: Server[] = [];
let servers: McpServers | undefined;
afterEach(async () => {
  await servers?.close();
  for (const server of started) {
    server.closeAllConnections();
    server.close();
  }
  started = [];
});

/** Starts a hand-coded server and Parley's client. */
async function scene(respond: Respond) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const message = body === '' ? { method: request.method ?? '' } : JSON.parse(body);
    asked.push(message.method);
    const session = request.headers['mcp-session-id']?.toString();
    respond({ ...message, session }, response, request);
  }).listen(0, '127.0.0.1');
  started.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}/mcp`;
  const { log, lines } = createRecordingLogger();
  const opened = openMcpServers([{ name: 's', peer: { kind: 'http', url, headers: {} } }], {
    ...{ env: {}, ...systemTime, random: () => 0, log },
  });
  servers = opened;
  const view = () => opened.views()[0];
  return {
    asked,
    lines,
    view,
    url,
    count: (method: string) => asked.filter((one) => one === method).length,
    connected: () => expect.poll(() => view()?.state.kind).toBe('connected'),
    reason: () => expect.poll(() => JSON.stringify(view()?.state)),
    call: (tool: string) => opened.call('s', tool, {}, AbortSignal.timeout(20_000)),
  };
}

function json(response: ServerResponse, id: unknown, result: unknown, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

function refuse(response: ServerResponse, status: number, text = ''): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

const TOOLS = {
  tools: [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }],
};

/** A server that correctly implements a protocol from before July 2026. */
const usual: Respond = ({ id, method, params }, response) => {
  if (id === undefined) return refuse(response, method === 'GET' ? 405 : 202);
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {};
    return json(response, id, { protocolVersion, capabilities: { tools: {} }, serverInfo: {} });
  }
  if (method === 'tools/list') return json(response, id, TOOLS);
  if (method === 'tools/call')
    return json(response, id, { content: [{ type: 'text', text: 'hi' }] });
  return refuse(response, 400, 'unknown method');
};

describe('[G03] a server over HTTP with its own protocol variant', () => {
  it.each<readonly [string, Respond]>([
    ['has no stream to listen to', usual],
    [
      'answers the request for a stream with an error',
      (asked, response, request) =>
        asked.method === 'GET' ? refuse(response, 500) : usual(asked, response, request),
    ],
    [
      'fails at the version request',
      (asked, response, request) =>
        asked.method === 'server/discover'
          ? refuse(response, 500)
          : usual(asked, response, request),
    ],
    [
      'never answers the version request',
      (asked, response, request) =>
        asked.method === 'server/discover' ? undefined : usual(asked, response, request),
    ],
    [
      'sends events without an event type',
      ({ id, ...asked }, response, request) => {
        if (asked.method !== 'tools/list') return usual({ id, ...asked }, response, request);
        response.writeHead(200);
        response.end(`event: message\ndata: ${JSON.stringify({ id, result: TOOLS })}\n\n`);
      },
    ],
  ])('can be used when it %s', async (_what, respond) => {
    const { connected, call } = await scene(respond);
    await connected();
    expect(await call('echo')).toEqual({ text: 'hi', failed: false });
  });

  it('is used with the version of July 2026 if it supports that version', async () => {
    const { connected, call, count } = await scene(({ id, method }, response) => {
      const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
      if (method === 'server/discover') {
        const supportedVersions = ['2026-07-28'];
        return json(response, id, { ...whole, supportedVersions, capabilities: { tools: {} } });
      }
      // The version of July 2026 requires `resultType`, but a result without it is accepted.
      if (method === 'tools/list') return json(response, id, { ...TOOLS });
      return json(response, id, { content: [{ type: 'text', text: 'new' }] });
    });
    await connected();
    expect(await call('echo')).toEqual({ text: 'new', failed: false });
    expect(count('initialize')).toBe(0);
  });

  const question = {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  };
  const asking = {
    resultType: 'input_required',
    inputRequests: { who: question },
    requestState: 'st/1=',
  };
  /**
   * A server of July 2026 that asks a question first and then returns the arguments of the call.
   */
  const asksFirst: Respond = ({ id, method, params = {} }, response) => {
    const isAnswered = params.requestState !== undefined;
    const told = JSON.stringify([params.requestState, params.inputResponses]);
    const results: Readonly<Record<string, object>> = {
      'server/discover': {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, prompts: {} },
      },
      'tools/list': TOOLS,
      'prompts/list': { prompts: [{ name: 'greet' }] },
      'prompts/get': asking,
      'tools/call': isAnswered ? { content: [{ type: 'text', text: told }] } : asking,
    };
    const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    json(response, id, { ...whole, ...results[method] });
  };

  it('may ask a question first, which is passed on, and the call is repeated with the answer', async () => {
    const { connected, call } = await scene(asksFirst);
    await connected();
    const asked = await call('echo');
    expect(asked).toEqual({ asks: { who: question }, state: 'st/1=' });
    const reply = { responses: { who: { action: 'decline' } }, state: 'st/1=' };
    const signal = AbortSignal.timeout(20_000);
    expect(await servers?.call('s', 'echo', {}, signal, reply)).toEqual({
      ...{ text: '["st/1=",{"who":{"action":"decline"}}]', failed: false },
    });
  });

  it('may not ask a question about a prompt, so the request fails and the connection stays open', async () => {
    const { connected, view } = await scene(asksFirst);
    await connected();
    const signal = AbortSignal.timeout(20_000);
    await expect(servers?.prompt('s', 'greet', {}, signal)).rejects.toMatchObject({
      code: 'mcp-refused',
      message: 'it asks a person a question during the call, which is not supported here',
    });
    expect(view()?.state.kind).toBe('connected');
  });

  it('may ask for more data than can be stored, and then the call fails', async () => {
    const { connected, call } = await scene((asked, response, request) => {
      if (asked.method !== 'tools/call') return asksFirst(asked, response, request);
      json(response, asked.id, { ...asking, requestState: 'x'.repeat(100_001) });
    });
    await connected();
    await expect(call('echo')).rejects.toMatchObject({ code: 'mcp-invalid-response' });
  });

  it('is not offered the capability to ask if it has an older version, so its response is a result', async () => {
    let hello: unknown;
    const { connected, call } = await scene((asked, response, request) => {
      if (asked.method === 'initialize') hello = asked.params?.capabilities;
      if (asked.method === 'server/discover') return refuse(response, 400);
      if (asked.method === 'tools/call') return json(response, asked.id, asking);
      usual(asked, response, request);
    });
    await connected();
    expect(await call('echo')).not.toHaveProperty('asks');
    expect(hello).toEqual({});
  });

  it('may end its session, and the next call starts a new session and is executed once', async () => {
    let sessions = 0;
    const made: string[] = [];
    const { connected, call, count } = await scene((asked, response, request) => {
      const { id, method, session } = asked;
      if (method === 'initialize') {
        sessions += 1;
        const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} };
        return json(response, id, result, { 'mcp-session-id': `session ${sessions}` });
      }
      // Requests without a session, or in an old session, are not executed.
      if (id !== undefined && session !== `session ${sessions}`) return refuse(response, 404);
      if (method === 'tools/call') made.push(session ?? '');
      usual(asked, response, request);
    });
    await connected();
    expect(await call('echo')).toEqual({ text: 'hi', failed: false });
    sessions = 7;
    expect(await call('echo')).toEqual({ text: 'hi', failed: false });
    expect(made).toEqual(['session 1', 'session 8']);
    expect(count('initialize')).toBe(2);
  });

  it('can be used over the two connections of the 2024 protocol', async () => {
    let stream: ServerResponse | undefined;
    const { connected, call } = await scene((asked, response, request) => {
      if (asked.method === 'GET') {
        stream = response;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.write('event: endpoint\ndata: /messages?id=1\n\n');
      }
      if (request.url === '/mcp') return refuse(response, 405);
      response.writeHead(202).end();
      const { id, method } = asked;
      if (id === undefined) return;
      const result =
        method === 'tools/list'
          ? TOOLS
          : method === 'initialize'
            ? { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: {} }
            : { content: [{ type: 'text', text: 'old' }] };
      stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
    await connected();
    expect(await call('echo')).toEqual({ text: 'old', failed: false });
  });
});

describe('[G03] an operator whose HTTP server fails', () => {
  it.each<readonly [string, Respond, string]>([
    [
      'that the key is refused',
      (_asked, response) => refuse(response, 401),
      'it refuses access (HTTP 401); put a valid key into “headers”',
    ],
    [
      'that the path is wrong',
      (_asked, response) => refuse(response, 404),
      'no MCP server answers at its address (HTTP 404); correct “url”',
    ],
    [
      'that the server has an internal error',
      (_asked, response) => refuse(response, 503),
      'it has an internal error (HTTP 503); see its log',
    ],
    [
      'that the address is a web page',
      (_asked, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'it answered with a web page instead of the protocol; correct “url”',
    ],
    [
      'that the address redirects',
      (_asked, response) => response.writeHead(301, { location: 'https://elsewhere.test/' }).end(),
      'it redirects to another address, which is not followed; put the final address into “url”',
    ],
  ])('learns %s', async (_what, respond, words) => {
    const { reason } = await scene(respond);
    await reason().toContain(words);
  });

  it('learns that no process listens at the address', async () => {
    const { url } = await scene(usual);
    const [server] = started;
    server?.closeAllConnections();
    server?.close();
    if (server !== undefined) await once(server, 'close');
    await servers?.close();
    servers = openMcpServers([{ name: 's', peer: { kind: 'http', url, headers: {} } }], {
      ...{ env: {}, ...systemTime, random: () => 0, log: createRecordingLogger().log },
    });
    await expect
      .poll(() => JSON.stringify(servers?.views()[0]?.state))
      .toContain('nothing listens at its address; start it, or correct “url”');
  });
});
