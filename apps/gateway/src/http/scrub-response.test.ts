import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { silentLogger } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrubResponse } from './scrub-response.ts';
import { createScrubbedApp } from './scrubbed-app.ts';

const SECRET = 'correct-hörse-battery';
const secrets = openSecrets([SECRET]);
const LONG = `${'const page = "hello";\n'.repeat(100)}${SECRET}\n`;

type Body = ConstructorParameters<typeof Response>[0];
const scrubbed = async (body: Body, headers: Record<string, string>) =>
  scrubResponse(new Response(body, { headers }), secrets);

/** Splits bytes into chunks of arbitrary size, the way a server may send them. */
const inPieces = (bytes: Uint8Array, size: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size)
        controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });

describe('an HTTP response', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
  ])(
    '[G18] does not contain secrets if its route compressed it with %s',
    async (encoding, pack) => {
      for (const type of ['text/javascript', 'application/json', 'text/event-stream']) {
        const headers = { 'content-type': type, 'content-encoding': encoding };
        const response = await scrubbed(inPieces(pack(JSON.stringify(LONG)), 7), headers);
        expect(response.headers.get('content-encoding')).toBeNull();
        expect(await response.text()).toBe(JSON.stringify(LONG.replace(SECRET, '[secret]')));
      }
    },
  );

  it('[G18] is not sent if it is compressed with an unknown encoding', async () => {
    const response = await scrubbed('?', { 'content-encoding': 'dcb' });
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('?');
  });

  it('[G18] of any type and in any chunks does not contain secrets, and is unchanged if there were none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          '',
          'image/png',
          'application/zip',
          'text/html',
          'application/octet-stream',
        ),
        fc.uint8Array({ maxLength: 40 }),
        fc.uint8Array({ maxLength: 40 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 30 }),
        async (type, before, after, isSecret, size) => {
          const middle = Buffer.from(isSecret ? SECRET : '');
          const body = inPieces(Buffer.concat([before, middle, after]), size);
          const response = await scrubbed(body, { 'content-type': type });
          const expected = [before, Buffer.from(isSecret ? '[secret]' : ''), after];
          expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat(expected));
        },
      ),
    );
  });

  it('[G18] is streamed, so that a large file is never held in memory as a whole', async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(1_000).fill(pulled % 9));
      },
    });
    const response = await scrubbed(endless, { 'content-type': 'application/octet-stream' });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0);
    await reader?.cancel();
    expect(pulled).toBeLessThan(20);
  });

  it("[G18] does not have secrets in its headers, except for its own browser's cookie", async () => {
    const headers = { location: '/x?key=correct-h%C3%B6rse-battery', 'set-cookie': 'session=1' };
    const response = await scrubbed('', headers);
    expect(response.headers.get('location')).toBe('/x?key=[secret]');
    expect(response.headers.get('set-cookie')).toBe('session=1');
  });

  it('[G18] [U03] is compressed only for the page, and only after its secrets are removed', async () => {
    const type = { 'content-type': 'text/javascript' };
    const routes = { fetch: () => new Response(LONG, { headers: type }) };
    const app = createScrubbedApp(routes, secrets, silentLogger);
    const ask = (path: string) => app.request(path, { headers: { 'accept-encoding': 'gzip' } });
    const file = await ask('/page/main.js');
    expect(file.headers.get('content-encoding')).toBe('gzip');
    const text = file.body?.pipeThrough(new DecompressionStream('gzip'));
    expect(await new Response(text).text()).toBe(LONG.replace(SECRET, '[secret]'));
    expect((await ask('/api/status/report')).headers.get('content-encoding')).toBeNull();
  });
});
