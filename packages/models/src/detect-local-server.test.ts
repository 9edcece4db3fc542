import { describe, expect, it } from 'vitest';
import { detectLocalServer } from './detect-local-server.ts';

const models = (...ids: string[]) => Response.json({ data: ids.map((id) => ({ id })) });

/** A machine on which these servers run, by port; everything else refuses the connection. */
function machine(servers: Record<number, () => Response | Promise<Response>>) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(String(url));
    const serve = servers[Number(new URL(String(url)).port)];
    if (serve === undefined) throw new TypeError('fetch failed');
    const silence = new Promise<never>((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
    return Promise.race([serve(), silence]);
  };
  return { fetch, asked };
}

describe('looking for a local server', () => {
  it('[G01] finds the first of the usual ports that lists a chat model', async () => {
    const { fetch } = machine({ 1234: () => models('lm'), 8080: () => models('llama-cpp') });
    const found = await detectLocalServer({ fetch, ollamaHost: undefined });
    expect(found).toEqual({ baseUrl: 'http://127.0.0.1:1234/v1', model: 'lm' });
  });

  it('[G01] is not misled by other programs on these ports', async () => {
    const { fetch } = machine({
      11434: () => models('nomic-embed-text'),
      1234: () => new Response('<h1>my web site</h1>'),
      8080: () => Response.json({ error: 'no key' }, { status: 401 }),
      8000: () => Response.json({ status: 'ok' }),
      1337: () => models('jan'),
    });
    const found = await detectLocalServer({ fetch, ollamaHost: undefined });
    expect(found).toEqual({ baseUrl: 'http://127.0.0.1:1337/v1', model: 'jan' });
  });

  it('[G01] does not wait for a server that says nothing', async () => {
    const { fetch } = machine({ 11434: () => new Promise(() => {}), 1337: () => models('jan') });
    const found = await detectLocalServer({ fetch, ollamaHost: undefined });
    expect(found?.model).toBe('jan');
  });

  it('[G01] finds nothing where nothing runs, and asks only this machine', async () => {
    const { fetch, asked } = machine({});
    expect(await detectLocalServer({ fetch, ollamaHost: undefined })).toBeNull();
    expect(asked).toHaveLength(5);
    for (const url of asked) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/models$/);
  });

  it('[G01] asks the server that OLLAMA_HOST names first', async () => {
    const { fetch } = machine({ 5000: () => models('big'), 11434: () => models('small') });
    const found = await detectLocalServer({ fetch, ollamaHost: '127.0.0.1:5000' });
    expect(found?.model).toBe('big');
  });
});
