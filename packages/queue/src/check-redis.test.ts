import { describe, expect, it } from 'vitest';
import { findRedisIssues } from './connect-redis.ts';

const info = (...lines: string[]): string => ['# Server', ...lines, ''].join('\r\n');

describe('findRedisIssues', () => {
  it.each([
    [
      'runs a recent version without eviction',
      ['redis_version:7.0.15', 'maxmemory_policy:noeviction'],
      [],
    ],
    ['is too old', ['redis_version:6.0.16', 'maxmemory_policy:noeviction'], ['older than 6.2']],
    ['evicts keys', ['redis_version:8.2.1', 'maxmemory_policy:allkeys-lru'], ['to noeviction']],
    [
      'is Valkey, which has its own version numbers',
      ['redis_version:7.2.4', 'valkey_version:1.0.0'],
      [],
    ],
    ['reports nothing', [], []],
  ])('checks a server that %s', (_what, lines, expected) => {
    const found = findRedisIssues(info(...lines)).map(({ message }) => message);
    expect(found).toEqual(expected.map((words) => expect.stringContaining(words)));
  });
});
