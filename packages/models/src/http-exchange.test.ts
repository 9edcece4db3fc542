import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createRequestSender,
  type HttpResponse,
  httpExchange,
  type SendModelRequest,
} from './http-exchange.ts';

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // `address` is a string only for pipes.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/v1`;
}

const BODY = Buffer.from('{"text":"é你😀"}');
const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer k' };
const send = (exchange: SendModelRequest, url: string, signal = new AbortController().signal) =>
  exchange(url, HEADERS, BODY, signal);

async function read({ body }: HttpResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await body.next();
    if (done) return Buffer.concat(pieces).toString();
    pieces.push(value);
  }
}

/** Both implementations must behave in the same way. */
describe.each<[string, SendModelRequest]>([
  ['over node:http', httpExchange],
  ['over fetch', createRequestSender(globalThis.fetch)],
])('[G01] a request to a model %s', (_name, exchange) => {
  it('sends bytes and reads the status, headers and body', async () => {
    const url = await serve(async (request, response) => {
      const { method, url, headers } = request;
      response.writeHead(429, { 'Retry-After': '7', 'X-Two': ['a', 'b'] });
      response.end(`${method} ${url} ${headers.authorization} ${await text(request)}`);
    });
    const answer = await send(exchange, url);
    expect([answer.status, answer.headers['retry-after'], answer.headers['x-two']]).toEqual([
      429,
      '7',
      'a, b',
    ]);
    expect(await read(answer)).toBe(`POST /v1 Bearer k ${BODY}`);
  });

  it('follows a redirect, without the key if it leads to another server', async () => {
    const elsewhere = await serve(async (request, response) => {
      response.end(`${request.headers.authorization} ${await text(request)}`);
    });
    const url = await serve((_request, response) => {
      response.writeHead(307, { location: elsewhere }).end();
    });
    expect(await read(await send(exchange, url))).toBe(`undefined ${BODY}`);
  });

  it('decompresses what a server has compressed', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
    });
    expect(await read(await send(exchange, url))).toBe('packed');
  });

  it('throws if no server responds, and if the answer breaks off', async () => {
    const refused = 'http://127.0.0.1:1/v1';
    await expect(send(exchange, refused)).rejects.toThrow();
    const url = await serve((_request, response) => {
      response.write('half', () => response.destroy());
    });
    const answer = await send(exchange, url);
    await expect(read(answer)).rejects.toThrow();
  });

  it.each(['before', 'waiting', 'reading'])('ends when it is aborted: %s', async (when) => {
    const stop = new AbortController();
    const left = Promise.withResolvers<void>();
    const url = await serve((request, response) => {
      request.once('close', left.resolve);
      response.once('close', left.resolve);
      if (when === 'waiting') stop.abort(new Error('enough'));
      else response.write('half');
    });
    if (when === 'before') stop.abort(new Error('enough'));
    const asked = send(exchange, url, stop.signal);
    if (when !== 'reading') return expect(asked).rejects.toThrow('enough');
    const answer = await asked;
    await answer.body.next();
    const next = answer.body.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await left.promise;
  });

  it('closes the connection when the caller stops reading', async () => {
    const left = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.once('close', left.resolve);
      response.write('half');
    });
    const answer = await send(exchange, url);
    await answer.body.next();
    answer.destroy();
    await left.promise;
  });
});

describe('[G01] a request over node:http', () => {
  it('keeps its connection for the next request, even if the end of the answer was not read', async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.write('done');
      setImmediate(() => response.end('and a little more'));
    });
    for (let nth = 0; nth < 4; nth += 1) {
      const answer = await send(httpExchange, url);
      await answer.body.next();
      await answer.body.return?.();
      answer.release();
      // Waits until the rest of the answer has arrived.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(ports.size).toBeLessThan(4);
  });

  it('closes a connection if the rest of the response does not arrive soon', async () => {
    const left = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.once('close', left.resolve);
      response.write('done');
    });
    const answer = await send(httpExchange, url);
    await answer.body.next();
    await answer.body.return?.();
    answer.release();
    await left.promise;
  });

  it('uses the proxy from the environment if Node is configured to', async () => {
    const proxy = await serve(async (request, response) => {
      response.end(`${request.method} ${request.url} ${await buffer(request)}`);
    });
    const script = `
      const { httpExchange } = await import(${JSON.stringify(import.meta.resolve('./http-exchange.ts'))});
      const ask = async (url) => {
        const { signal } = new AbortController();
        const { body } = await httpExchange(url, {}, Buffer.from('hi'), signal);
        return Buffer.from((await body.next()).value).toString();
      };
      console.log(await ask('http://model.example/v1'));
      console.log(await ask('http://direct.example/v1').catch(() => 'asked without the proxy'));`;
    const env = {
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: new URL(proxy).origin,
      NO_PROXY: 'direct.example',
    };
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(stdout.trim().split('\n')).toEqual([
      'POST http://model.example/v1 hi',
      'asked without the proxy',
    ]);
  });
});
