import { execFile } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import { globalAgent, createServer as secureServer } from 'node:https';
import { type AddressInfo, createServer as socketServer } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { httpFetch } from './http-fetch.ts';

/** A self-signed certificate for loopback. */
const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLw2qo//DZV4ZHzDc
SgoKOQSR/0u4n7rnrWpKXnnSfaGhRANCAAT6NxJSikP2SIll7wtTYg4EW/XBo9NJ
iG7pVtvm5Oje1qJSlKMJNW7FxxZxwHek31baUIxakjeUUTKhSUWPRGsk
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUVhRKkNqVqZgRLOBHIGyhHHvmonMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzAyMjUwMloYDzIxMjYxMDMw
MDIyNTAyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT6NxJSikP2SIll7wtTYg4EW/XBo9NJiG7pVtvm5Oje1qJSlKMJNW7F
xxZxwHek31baUIxakjeUUTKhSUWPRGsko28wbTAdBgNVHQ4EFgQUOxWp+ANv2otq
KZ5AMIEAOfRklu4wHwYDVR0jBBgwFoAUOxWp+ANv2otqKZ5AMIEAOfRklu4wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgBN7BwVC09mO9vGDSzh5Chff2GrUQXe5NZtOBC2aoPgoCIQCx
wdlpCYKTO4v+wxX3XX/sN3c4ln48XJ7bGucg/z51Fg==
-----END CERTIFICATE-----`,
};

async function listen<Listening extends Server>(server: Listening): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return port;
}

const serve = async (answer: RequestListener) =>
  `http://127.0.0.1:${await listen(createServer(answer))}/v1`;

const post = (body = '{}', signal: AbortSignal | null = null): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: 'Bearer k' },
  body,
  signal,
});

/** Both implementations must behave in the same way. */
describe.each([
  ['httpFetch', httpFetch],
  ['the fetch of Node', globalThis.fetch],
])('[G01] a request over %s', (_name, fetch) => {
  it('sends text, reads the response and keeps the connection', async () => {
    const asked: unknown[] = [];
    const ports = new Set<number | undefined>();
    const url = await serve(async (request, response) => {
      ports.add(request.socket.remotePort);
      const { method, url, headers } = request;
      asked.push([method, url, headers['content-type'], headers.authorization]);
      response.writeHead(201, { 'X-Seen': 'yes', 'Set-Cookie': ['a=1', 'b=2'] });
      response.end(`got ${await text(request)}`);
    });
    const body = `{"text":"${'é你😀'.repeat(30_000)}"}`;
    for (let nth = 0; nth < 3; nth += 1) {
      const response = await fetch(url, post(body));
      expect([response.status, response.ok, response.statusText]).toEqual([201, true, 'Created']);
      expect(response.headers.get('x-seen')).toBe('yes');
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
      expect(await response.text()).toBe(`got ${body}`);
    }
    expect(asked[0]).toEqual(['POST', '/v1', 'application/json', 'Bearer k']);
    expect(ports.size).toBeLessThan(3);
  });

  it('sends half a surrogate pair as a replacement character', async () => {
    const url = await serve(async (request, response) => void response.end(await text(request)));
    expect(await (await fetch(url, post('{"a":"你\ud800"}'))).text()).toBe('{"a":"你\ufffd"}');
  });

  it('reads an error with its body, and a response without one', async () => {
    const statuses = [429, 204];
    const url = await serve(({ headers }, response) => {
      const status = statuses.shift() ?? 500;
      expect(headers['content-length']).toBe('2');
      response.writeHead(status, { 'retry-after': '7' });
      response.end(status === 429 ? '{"error":{}}' : undefined);
    });
    const refused = await fetch(url, post());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await refused.json()).toEqual({ error: {} });
    const empty = await fetch(url, post());
    expect([empty.status, empty.body]).toEqual([204, null]);
  });

  it.each([
    [307, 'POST {"q":1}'],
    [303, 'GET '],
  ])('follows a redirect with %i', async (status, expected) => {
    const elsewhere = await serve(async (request, response) => {
      expect(request.headers.authorization).toBeUndefined();
      response.end(`${request.method} ${await text(request)}`);
    });
    const url = await serve((_request, response) => {
      response.writeHead(status, { location: elsewhere }).end();
    });
    expect(await (await fetch(url, post('{"q":1}'))).text()).toBe(expected);
  });

  it('decompresses what a server has compressed', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
    });
    expect(await (await fetch(url, post())).text()).toBe('packed');
  });

  it('throws the reason if no server responds', async () => {
    const port = await listen(createServer());
    const url = await serve((request) => request.socket.destroy());
    await expect(fetch(url, post())).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) },
    });
    await expect(fetch(`https://127.0.0.1:${port}`, post())).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: expect.stringMatching(/SSL|EPROTO/) },
    });
    await expect(fetch('http://127.0.0.1:1/v1', post())).rejects.toThrow();
    await expect(fetch('http://u:p@127.0.0.1/v1', post())).rejects.toThrow('credentials');
  });

  it('fails if the response breaks off', async () => {
    const url = await serve((_request, response) => {
      response.write('half', () => response.destroy());
    });
    const response = await fetch(url, post());
    await expect(response.text()).rejects.toMatchObject({
      [fetch === httpFetch ? 'code' : 'message']: expect.stringMatching(/ECONNRESET|terminated/),
    });
  });

  it('rejects self-signed certificates, and trusts those it is configured to trust', async () => {
    const server = secureServer(CERTIFICATE, (_request, response) => response.end('secret'));
    const url = `https://localhost:${await listen(server)}`;
    await expect(fetch(url, post())).rejects.toMatchObject({
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    });
    if (fetch !== httpFetch) return;
    globalAgent.options.ca = CERTIFICATE.cert;
    onTestFinished(() => void delete globalAgent.options.ca);
    expect(await (await fetch(url, post())).text()).toBe('secret');
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
    const asked = fetch(url, post('{}', stop.signal));
    if (when !== 'reading') return expect(asked).rejects.toThrow('enough');
    const reader = (await asked).body?.getReader();
    await reader?.read();
    const next = reader?.read();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await left.promise;
  });

  it('closes the connection when the reader stops', async () => {
    const left = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.once('close', left.resolve);
      response.write('half');
    });
    const reader = (await fetch(url, post())).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await left.promise;
  });
});

describe('[G01] httpFetch', () => {
  afterEach(() => void vi.useRealTimers());

  it('waits ten seconds for a connection', async () => {
    const silent = socketServer();
    const connected = new Promise((resolve) => silent.once('connection', resolve));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { port } = silent.address() as AddressInfo;
    const failed = expect(httpFetch(`https://127.0.0.1:${port}`, post())).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ETIMEDOUT', message: `no connection to 127.0.0.1:${port} within 10 s` },
    });
    await connected;
    vi.advanceTimersByTime(10_000);
    await failed;
  });

  it('returns data that arrived together as one chunk', async () => {
    const event = (text: string) =>
      `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}\n\n`;
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(['a', 'b', 'c'].map(event).join(''));
    });
    expect(await (await httpFetch(url, post())).text()).toBe(event('abc'));
  });

  it('applies backpressure to a server that sends faster than the reader reads', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': still here\n\n'.repeat(700_000));
    });
    const { body } = await httpFetch(url, post());
    const first = await body?.getReader().read();
    expect(first?.value?.byteLength).toBeLessThan(1_000_000);
    const whole = await httpFetch(url, post());
    expect((await whole.arrayBuffer()).byteLength).toBe(9_800_000);
  });

  it('uses the proxy from the environment if Node is configured to', async () => {
    const proxy = await serve(async (request, response) => {
      response.end(`${request.method} ${request.url} ${await buffer(request)}`);
    });
    const script = `
      const { httpFetch } = await import(${JSON.stringify(import.meta.resolve('./http-fetch.ts'))});
      const answer = await httpFetch('http://model.example/v1', { method: 'POST', body: 'hi' });
      console.log(await answer.text());`;
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: new URL(proxy).origin };
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(stdout.trim()).toBe('POST http://model.example/v1 hi');
  });
});
