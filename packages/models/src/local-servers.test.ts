import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  detectLocalServer,
  detectLocalServers,
  findUsualServer,
  listLocalCandidates,
  pickChatModel,
} from './offline-model.ts';

describe('the addresses that are searched for a local server', () => {
  it('[G01] include the usual ports, Ollama’s first', () => {
    expect(listLocalCandidates(undefined)).toEqual([
      'http://127.0.0.1:11434/v1',
      'http://127.0.0.1:1234/v1',
      'http://127.0.0.1:8080/v1',
      'http://127.0.0.1:8000/v1',
      'http://127.0.0.1:1337/v1',
    ]);
  });

  it.each([
    ['127.0.0.1:5000', 'http://127.0.0.1:5000/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:5000', 'http://127.0.0.1:5000/v1'],
    [':5000', 'http://127.0.0.1:5000/v1'],
    ['[::]:5000', 'http://127.0.0.1:5000/v1'],
    ['gpu.home', 'http://gpu.home:11434/v1'],
    ['gpu.home:80', 'http://gpu.home/v1'],
    ['https://gpu.home/', 'https://gpu.home/v1'],
  ])('[G01] start with OLLAMA_HOST=%s', (host, expected) => {
    expect(listLocalCandidates(host)[0]).toBe(expected);
  });

  it('include each server only once', () => {
    expect(listLocalCandidates('localhost:11434')).toHaveLength(6);
    expect(listLocalCandidates('127.0.0.1')).toHaveLength(5);
  });

  it.each(['', '  ', 'not a host'])('ignore an invalid OLLAMA_HOST: "%s"', (host) => {
    expect(listLocalCandidates(host)).toHaveLength(5);
  });
});

describe('the model chosen from a server’s list', () => {
  it('[G01] is the first model that can chat', () => {
    const ids = ['nomic-embed-text:latest', 'BAAI/bge-m3', 'whisper-1', 'llama3.2:3b', 'qwen3'];
    expect(pickChatModel({ object: 'list', data: ids.map((id) => ({ id })) })).toBe('llama3.2:3b');
  });

  it.each([
    ['only embeddings', { data: [{ id: 'text-embedding-3' }] }],
    ['no models', { data: [] }],
    ['something else', { status: 'ok' }],
    ['no object', 'hello'],
  ])('is null if a server lists %s', (_name, answer) => {
    expect(pickChatModel(answer)).toBeNull();
  });
});

const models = (...ids: string[]) => Response.json({ data: ids.map((id) => ({ id })) });

/**
 * Simulates a machine on which these servers run, by port; every other port refuses connections.
 */
function machine(servers: Record<number, () => Response | Promise<Response>>) {
  const asked: string[] = [];
  const readJson = async (url: string, signal: AbortSignal) => {
    asked.push(url);
    const serve = servers[Number(new URL(url).port)];
    if (serve === undefined) throw new Error('connect ECONNREFUSED');
    const silence = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    const response = await Promise.race([serve(), silence]);
    return response.ok ? response.json() : null;
  };
  return { readJson, asked };
}

describe('looking for a local server', () => {
  it('[G01] finds the first of the usual ports that lists a chat model', async () => {
    const { readJson } = machine({ 1234: () => models('lm'), 8080: () => models('llama-cpp') });
    const found = await detectLocalServer({ readJson, ollamaHost: undefined });
    expect(found).toEqual({ baseUrl: 'http://127.0.0.1:1234/v1', model: 'lm' });
  });

  it('[U02] finds all servers that list a chat model, best first, and names them', async () => {
    const { readJson } = machine({ 8080: () => models('gguf'), 11434: () => models('llama3') });
    const found = await detectLocalServers({ readJson, ollamaHost: undefined });
    expect(found.map(({ model }) => model)).toEqual(['llama3', 'gguf']);
    expect(found.map(({ baseUrl }) => findUsualServer(baseUrl))).toEqual(['Ollama', 'llama.cpp']);
    expect(findUsualServer('http://127.0.0.1:5000/v1')).toBeUndefined();
  });

  it('[G01] is not misled by other programs on these ports', async () => {
    const { readJson } = machine({
      11434: () => models('nomic-embed-text'),
      1234: () => new Response('<h1>my web site</h1>'),
      8080: () => Response.json({ error: 'no key' }, { status: 401 }),
      8000: () => Response.json({ status: 'ok' }),
      1337: () => models('jan'),
    });
    const found = await detectLocalServer({ readJson, ollamaHost: undefined });
    expect(found).toEqual({ baseUrl: 'http://127.0.0.1:1337/v1', model: 'jan' });
  });

  it('[G01] does not wait for a silent server', async () => {
    const { readJson } = machine({ 11434: () => new Promise(() => {}), 1337: () => models('jan') });
    const found = await detectLocalServer({ readJson, ollamaHost: undefined });
    expect(found?.model).toBe('jan');
  });

  it('[G01] finds no server if none runs, and sends requests only to this machine', async () => {
    const { readJson, asked } = machine({});
    expect(await detectLocalServer({ readJson, ollamaHost: undefined })).toBeNull();
    expect(asked).toHaveLength(5);
    for (const url of asked) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/models$/);
  });

  it('[G01] first queries the server that OLLAMA_HOST names', async () => {
    const { readJson } = machine({ 5000: () => models('big'), 11434: () => models('small') });
    const found = await detectLocalServer({ readJson, ollamaHost: '127.0.0.1:5000' });
    expect(found?.model).toBe('big');
  });

  it.each<[what: string, answer: RequestListener, model: string | undefined]>([
    ['lists its models', (_asked, answer) => answer.end('{"data":[{"id":"lm"}]}'), 'lm'],
    [
      'is not told the key',
      (_asked, answer) => answer.writeHead(401).end('{"data":[{"id":"lm"}]}'),
      undefined,
    ],
    [
      'sends on to another',
      (_asked, answer) => answer.writeHead(302, { location: '/' }).end(),
      undefined,
    ],
    [
      'cuts its answer off',
      (_asked, answer) => void answer.write('{"data":', () => answer.destroy()),
      undefined,
    ],
    ['speaks no JSON', (_asked, answer) => answer.end('<h1>my web site</h1>'), undefined],
  ])('[G01] queries a server over HTTP that %s', async (_what, answer, model) => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const found = await detectLocalServer({
      ollamaHost: undefined,
      candidates: [`http://127.0.0.1:${port}/v1`],
    });
    server.close();
    expect(found?.model).toBe(model);
  });
});
