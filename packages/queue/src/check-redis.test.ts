import { describe, expect, it } from 'vitest';
import { findComplaints } from './connect-redis.ts';

const info = (...lines: string[]): string => ['# Server', ...lines, ''].join('\r\n');

describe('what a Redis says of itself', () => {
  it.each([
    ['is as it should be', ['redis_version:7.0.15', 'maxmemory_policy:noeviction'], []],
    ['is old', ['redis_version:6.0.16', 'maxmemory_policy:noeviction'], ['older than 6.2']],
    ['forgets', ['redis_version:8.2.1', 'maxmemory_policy:allkeys-lru'], ['to noeviction']],
    ['is Valkey, whose versions are its own', ['redis_version:7.2.4', 'valkey_version:1.0.0'], []],
    ['says nothing', [], []],
  ])('when it %s', (_what, lines, expected) => {
    const found = findComplaints(info(...lines)).map(({ message }) => message);
    expect(found).toEqual(expected.map((words) => expect.stringContaining(words)));
  });
});
