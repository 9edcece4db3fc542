import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FETCH_LIMITS, type FetchLimits, fetchResource } from './fetch.ts';
import { openWebScene, type WebScene } from './testing/web-scene.ts';

async function serve(answer: RequestListener): Promise<WebScene> {
  const scene = await openWebScene(answer);
  onTestFinished(() => scene.close());
  return scene;
}

const { signal } = new AbortController();

function fetchFrom(scene: WebScene, path: string, limits: Partial<FetchLimits> = {}) {
  const bounds = { ...FETCH_LIMITS, ports: [scene.port, 80, 443], ...limits };
  return fetchResource(scene.url(path), bounds, signal, scene.rules());
}

describe('a fetch', () => {
  it('[G06] does not reach servers on this machine unless a test allows it', async () => {
    const scene = await serve((_, response) => response.end('inside'));
    const bounds = { ...FETCH_LIMITS, ports: [scene.port] };
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
      const fetched = fetchResource(scene.url('/', host), bounds, signal);
      await expect(fetched).rejects.toMatchObject({ code: 'web-refused' });
    }
    expect(scene.asked).toHaveLength(0);
  });

  it("[G02] returns the server's content and sends only what the request needs", async () => {
    const scene = await serve((_, response) => {
      response.setHeader('content-type', 'text/plain').end('hello');
    });
    const { bytes, contentType, url } = await fetchFrom(scene, '/a?b=c#d');
    expect([bytes.toString(), contentType, url.href]).toEqual([
      'hello',
      'text/plain',
      scene.url('/a?b=c'),
    ]);
    const headers = scene.asked[0]?.headers ?? {};
    expect(Object.keys(headers).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(headers.host).toBe(`page.example:${scene.port}`);
  });

  it('[G06] connects to the address that was checked, even if the name resolves to another one later', async () => {
    const scene = await serve((_, response) => response.end('first'));
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let lookups = 0;
    const rules = {
      ...scene.rules(),
      resolve: async () => answers[lookups++] ?? [],
    };
    const bounds = { ...FETCH_LIMITS, ports: [scene.port] };
    // The system cannot resolve this name, so only the checked address can have been used.
    const { bytes } = await fetchResource(
      scene.url('/', 'rebinding.example'),
      bounds,
      signal,
      rules,
    );
    expect([bytes.toString(), lookups]).toEqual(['first', 1]);
  });

  it.each([
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://localhost/',
    'http://inside.example/',
    'http://user:pass@page.example/',
    'http://page.example:22/',
    'file:///etc/passwd',
    '//10.0.0.1/',
    'http://0x0a000001/',
  ])('[G06] does not follow a redirect to %s', async (location) => {
    const scene = await serve((_, response) => response.writeHead(302, { location }).end());
    const bounds = { ...FETCH_LIMITS, ports: [scene.port, 80] };
    const rules = scene.rules({ 'inside.example': ['192.168.1.1'] });
    const fetched = fetchResource(scene.url('/'), bounds, signal, rules);
    await expect(fetched).rejects.toMatchObject({ code: 'web-refused' });
    expect(scene.asked).toHaveLength(1);
  });

  it('[G02] follows five redirects but not a sixth', async () => {
    const scene = await serve(({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(301, { location: `/${left - 1}` }).end();
    });
    expect((await fetchFrom(scene, '/5')).url.pathname).toBe('/0');
    await expect(fetchFrom(scene, '/6')).rejects.toMatchObject({ code: 'web-redirects' });
  });

  it('[G02] aborts at 5 MB, even if the compressed content is small', async () => {
    const bomb = gzipSync(Buffer.alloc(60_000_000));
    const scene = await serve(({ url }, response) => {
      if (url === '/bomb') response.setHeader('content-encoding', 'gzip').end(bomb);
      else response.end(Buffer.alloc(5_000_001));
    });
    expect(bomb.length).toBeLessThan(100_000);
    for (const path of ['/bomb', '/long']) {
      await expect(fetchFrom(scene, path)).rejects.toMatchObject({ code: 'web-too-large' });
    }
  });

  it('[G02] aborts at the deadline: before the headers, between bytes, and during a lookup', async () => {
    const scene = await serve(({ url }, response) => {
      if (url === '/drip') response.write('.');
    });
    for (const path of ['/silent', '/drip']) {
      const fetched = fetchFrom(scene, path, { timeoutMs: 300 });
      await expect(fetched).rejects.toMatchObject({ code: 'web-timeout', retryable: true });
    }
    const rules = { ...scene.rules(), resolve: () => new Promise<never>(() => {}) };
    const fetched = fetchResource(
      'http://slow.example/',
      { ...FETCH_LIMITS, timeoutMs: 100 },
      signal,
      rules,
    );
    await expect(fetched).rejects.toMatchObject({ code: 'web-timeout' });
  });

  it('[G01] aborts when the turn ends', async () => {
    const scene = await serve(() => {});
    const stop = new AbortController();
    const bounds = { ...FETCH_LIMITS, ports: [scene.port] };
    const fetched = fetchResource(scene.url('/'), bounds, stop.signal, scene.rules());
    stop.abort(new Error('stopped'));
    await expect(fetched).rejects.toThrow('stopped');
  });

  it.each([
    [404, 'no such page'],
    [403, 'not public'],
    [429, 'too many requests'],
    [503, 'the server has an internal error'],
    [304, 'that is not a page'],
  ])('[G02] explains the HTTP status %i', async (status, words) => {
    const scene = await serve((_, response) => response.writeHead(status).end());
    const fetched = fetchFrom(scene, '/');
    await expect(fetched).rejects.toMatchObject({
      code: 'web-status',
      message: expect.stringContaining(words),
    });
  });

  it('[G02] reports a refused connection and a truncated response', async () => {
    const scene = await serve(({ socket, url }, response) => {
      if (url === '/half') response.writeHead(200, { 'content-length': 100 }).write('half');
      setTimeout(() => socket.destroy(), 50);
    });
    for (const path of ['/none', '/half']) {
      await expect(fetchFrom(scene, path)).rejects.toMatchObject({ code: 'web-unreachable' });
    }
  });
});
