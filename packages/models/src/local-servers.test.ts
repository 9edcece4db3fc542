import { describe, expect, it } from 'vitest';
import { localCandidates, pickChatModel } from './local-servers.ts';

describe('where a local server is looked for', () => {
  it('[G01] on the usual ports, Ollama first', () => {
    expect(localCandidates(undefined)).toEqual([
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
  ])('[G01] first where OLLAMA_HOST=%s says', (host, expected) => {
    expect(localCandidates(host)[0]).toBe(expected);
  });

  it('does not ask the same server twice', () => {
    expect(localCandidates('localhost:11434')).toHaveLength(6);
    expect(localCandidates('127.0.0.1')).toHaveLength(5);
  });

  it.each(['', '  ', 'not a host'])('leaves out what is no host: "%s"', (host) => {
    expect(localCandidates(host)).toHaveLength(5);
  });
});

describe('the model that is asked', () => {
  it('[G01] is the first that can chat', () => {
    const ids = ['nomic-embed-text:latest', 'BAAI/bge-m3', 'whisper-1', 'llama3.2:3b', 'qwen3'];
    expect(pickChatModel({ object: 'list', data: ids.map((id) => ({ id })) })).toBe('llama3.2:3b');
  });

  it.each([
    ['only embeddings', { data: [{ id: 'text-embedding-3' }] }],
    ['no models', { data: [] }],
    ['something else', { status: 'ok' }],
    ['no object', 'hello'],
  ])('is none where a server lists %s', (_name, answer) => {
    expect(pickChatModel(answer)).toBeNull();
  });
});
