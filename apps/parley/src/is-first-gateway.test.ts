import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFirstGateway } from './is-first-gateway.ts';

describe('the first gateway of a deployment', () => {
  let store: Store;
  let now: number;
  beforeEach(async () => {
    now = 100_000;
    store = await openStore({ url: 'sqlite::memory:', clock: () => now });
  });
  afterEach(() => store.close());
  const isFirst = (processId: string) => isFirstGateway({ store, processId, clock: () => now });
  const runs = (id: string, role: 'all' | 'gateway' | 'worker') => {
    const facts = {
      host: 'here',
      pid: 7,
      address: 'http://127.0.0.1:1',
      version: '0',
      startedAt: now,
    };
    return store.processes.beat({ id, role, ...facts }, now);
  };

  it('[W08] is one that finds no other, whatever workers there are', async () => {
    await runs('w', 'worker');
    await runs('a', 'gateway');
    expect(await isFirst('a')).toBe(true);
  });

  it.each(['gateway', 'all'] as const)('[W08] is none that joins a living %s', async (role) => {
    await runs('b', role);
    expect(await isFirst('a')).toBe(false);
    now += 15_001;
    expect(await isFirst('a')).toBe(true);
  });

  it('[W08] is one of those that start in the same moment', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map(isFirst));
    expect(all.filter(Boolean)).toHaveLength(1);
  });
});
