import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { runCommand } from './parley-process.ts';
import { BO, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

const BEARER = 'header-canary-0a1b2c3d';
const KEY = 'query-canary-4e5f6a7b';
const CANARY = /(?:header|query)-canary/;

let server: Server;
let port: number;
let scene: TelegramScene;

/** Refuses like a debugging proxy, whose response repeats the request including the secrets. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const { url, headers } = request;
  response.writeHead(401, { 'content-type': 'text/plain' });
  response.end(`Unauthorized: ${url} ${JSON.stringify(headers)}`);
}

/** An MCP server over HTTP that refuses everything under /closed, and tool calls under /open. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const piece of request) body += piece;
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = JSON.parse(body);
  if (request.url?.startsWith('/closed') || method === 'tools/call') {
    return refuse(request, response);
  }
  if (id === undefined) return void response.writeHead(202).end();
  const tool = {
    name: 'look',
    description: `Asked at ${request.url}`,
    inputSchema: { type: 'object' },
  };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'echo', version: '1' },
    },
    'tools/list': { tools: [{ ...tool, annotations: { readOnlyHint: true } }] },
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
}

const status = async () => (await runCommand(['--data', scene.folder.path, 'status'])).out;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  const at = (path: string) => ({
    url: `http://127.0.0.1:${port}/${path}?api_key=${KEY}`,
    headers: { authorization: `Bearer ${BEARER}` },
    audience: 'everyone',
    approval: 'never',
  });
  scene = await startTelegramScene({}, { mcp: { closed: at('closed'), open: at('open') } });
});
afterAll(async () => {
  await scene.close();
  server.closeAllConnections();
  server.close();
});

describe('[G18] secrets in requests to an MCP server', () => {
  it('are hidden in parley status and in the API, even if the server repeats them', async () => {
    await expect
      .poll(status, { interval: 300 })
      .toMatch(/mcp +closed: .*401[\s\S]*mcp +open: connected/);
    const { body } = await createWebClient(scene.parley).get('/api/status/report');
    for (const shown of [await status(), body]) {
      expect(shown).toContain('[secret]');
      expect(shown).not.toMatch(CANARY);
    }
  });

  it("never reach the model, another person's chat, or the prompt in the inspector", async () => {
    scene.model.reply(({ messages }) => {
      const said = messages.findLast(({ role }) => role === 'tool');
      if (said !== undefined) return `It says: ${getMessageText(said)}`;
      return { toolCalls: [{ name: 'open_look', arguments: {} }] };
    });
    const before = scene.answers(BO).length;
    scene.telegram.say({ chat: BO, text: 'look' });
    const answers = await scene.untilAnswers(BO, before + 1);
    expect(answers.at(-1)).toMatch(/It says: [\s\S]*\[secret\]/);
    expect(JSON.stringify(scene.telegram.calls())).not.toMatch(CANARY);
    const asked = JSON.stringify(scene.model.requests.map(({ body }) => body));
    expect(asked).toContain('api_key=[secret]');
    expect(asked).not.toMatch(CANARY);
    const command = (...args: string[]) => runCommand(['--data', scene.folder.path, ...args]);
    const shown = await command('prompt', '--last', '--full');
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('api_key=[secret]') });
    expect(shown.out + (await command('why', 'last')).out).not.toMatch(CANARY);
  });

  it('never reach the log', () => {
    expect(scene.parley.out() + scene.parley.err()).not.toMatch(CANARY);
  });
});

describe("[G18] the gateway's access token", () => {
  it('is removed from an answer, even while the answer is streamed', async () => {
    const { token } = scene.parley;
    scene.model.reply(() => `The token is ${token}, I think.`);
    const before = scene.answers(BO).length;
    scene.telegram.say({ chat: BO, text: 'which token?' });
    const answers = await scene.untilAnswers(BO, before + 1);
    expect(answers.at(-1)).toBe('The token is [secret], I think.');
    const shown = JSON.stringify([scene.telegram.calls(), scene.telegram.drafts()]);
    for (let at = 0; at + 8 <= token.length; at += 1) {
      expect(shown).not.toContain(token.slice(at, at + 8));
    }
  });
});
