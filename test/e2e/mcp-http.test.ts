import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { silentLogger, systemTime } from '@parley/core';
import { type McpServers, openMcpServers } from '@parley/tools/mcp';
import { afterEach, describe, expect, it } from 'vitest';

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

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  started.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/mcp`;
}

/** Connects to an MCP server and returns the reason for the failure. */
async function reasonAt(url: string): Promise<string> {
  const peer = { kind: 'http', url, headers: { authorization: 'Bearer s3cret' } } as const;
  const deps = { env: {}, ...systemTime, random: () => 0, log: silentLogger };
  const opened = openMcpServers([{ name: 's', peer }], deps);
  servers = opened;
  const state = () => opened.views()[0]?.state;
  await expect.poll(() => state()?.kind).toBe('waiting');
  return JSON.stringify(state());
}

describe('[G03] an untrusted MCP server over HTTP', () => {
  it("cannot obtain a request's secret through a redirect", async () => {
    const asked: string[] = [];
    const elsewhere = await listen((request, response) => {
      asked.push(String(request.headers.authorization));
      response.end();
    });
    const url = await listen((_request, response) => {
      response.writeHead(307, { location: elsewhere }).end();
    });
    expect(await reasonAt(url)).not.toContain('s3cret');
    expect(asked).toEqual([]);
  });

  it('cannot exhaust memory with an endless response', async () => {
    let sent = 0;
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(1_000_000, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
      };
      response.on('drain', more);
      more();
    });
    expect(await reasonAt(url)).toContain('waiting');
    expect(sent).toBeLessThan(100_000_000);
  });
});
