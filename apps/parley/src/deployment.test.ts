import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessInfo, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  computeClockLead,
  describeProcessDifferences,
  isFirstGateway,
  listDifferences,
  readWorkspaceId,
} from './deployment.ts';

const FACTS = {
  agent: 'main',
  workspace: 'w1',
  settings: { owners: 'a', model: 'b' },
  clockAheadMs: 0,
};
const process = (more: Partial<ProcessInfo> = {}) => ({
  version: '1.0.0',
  facts: { ...FACTS, ...more },
});

describe('a process compared with the oldest process of its deployment', () => {
  it.each([
    ['alike', process(), []],
    ['with a clock within two seconds', process({ clockAheadMs: -2_000 }), []],
    ['with another clock', process({ clockAheadMs: -2_100 }), ['clock']],
    [
      'with a clock by which living leases have ended',
      process({ clockAheadMs: 4_100 }),
      ['clock!'],
    ],
    ['on another workspace', process({ workspace: 'w2' }), ['workspace!']],
    ['with a workspace that cannot be read', process({ workspace: null }), []],
    ['with another agent', process({ agent: 'second' }), ['agent!']],
    ['of another version', { ...process(), version: '1.1.0' }, ['version']],
    ['with other settings', process({ settings: { ...FACTS.settings, model: 'c' } }), ['settings']],
    ['of a version that records no facts', { version: '1.0.0' }, []],
  ])('[D12] %s', (_which, own, expected) => {
    const found = listDifferences(own, process()).map(
      ({ what, unsafe }) => `${what}${unsafe ? '!' : ''}`,
    );
    expect(found).toEqual(expected);
  });

  it('[D12] is judged by its own clock if it runs alone, and otherwise by the difference between the clocks', () => {
    const wrong = process({ clockAheadMs: 60_000 });
    expect(listDifferences(wrong, null)).toMatchObject([{ what: 'clock', unsafe: false }]);
    expect(listDifferences(wrong, wrong)).toMatchObject([{ what: 'clock', unsafe: false }]);
    expect(listDifferences(process(), wrong)).toMatchObject([{ what: 'clock', unsafe: true }]);
  });

  it('[D10] reports the names of differing settings sections, but not their contents', () => {
    const other = process({ settings: { owners: 'x', model: 'b' } });
    const [oldest, stranger] = describeProcessDifferences([process(), other]);
    expect(oldest?.notes).toEqual([]);
    expect(stranger?.notes).toEqual(['its settings differ in owners']);
  });
});

it.each([
  [0, 0, 0, 0],
  [1_000, 1_200, 1_100, 0],
  [1_000, 1_200, 1_050, 0],
  [5_000, 5_200, 1_100, 3_900],
  [1_000, 1_200, 5_100, -3_900],
])(
  '[D10] counts only the clock lead that the round trip cannot explain (%i to %i, %i)',
  (asked, answered, database, ahead) => {
    expect(computeClockLead(asked, answered, database)).toBeCloseTo(ahead);
  },
);

it('[D12] assigns one id to a workspace, even if several processes request it at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-id-'));
  const ids = await Promise.all([readWorkspaceId(folder), readWorkspaceId(folder)]);
  expect(ids[0]).not.toBeNull();
  expect(await readWorkspaceId(folder)).toBe(ids[0]);
  expect(ids[1] === ids[0] || ids[1] === null).toBe(true);
  expect(await readWorkspaceId('/proc/nowhere')).toBeNull();
  rmSync(folder, { recursive: true });
});

describe('the first gateway of a deployment', () => {
  let store: Store;
  let now: number;
  beforeEach(async () => {
    now = 100_000;
    store = await openMemoryStore({ clock: () => now });
  });
  afterEach(() => store.close());
  const isFirst = (processId: string) => isFirstGateway(store, processId);
  const runs = (id: string, role: 'all' | 'gateway' | 'worker') => {
    const facts = {
      host: 'here',
      pid: 7,
      address: 'http://127.0.0.1:1',
      version: '0',
    };
    return store.processes.heartbeat({ id, role, ...facts });
  };

  it('[W08] is the gateway that finds no other gateway, even if workers are running', async () => {
    await runs('w', 'worker');
    await runs('a', 'gateway');
    expect(await isFirst('a')).toBe(true);
  });

  it.each(['gateway', 'all'] as const)(
    '[W08] is not a gateway that joins a running %s',
    async (role) => {
      await runs('b', role);
      expect(await isFirst('a')).toBe(false);
      now += 15_001;
      expect(await isFirst('a')).toBe(true);
    },
  );

  it('[W08] is exactly one of several gateways that start at the same moment', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map(isFirst));
    expect(all.filter(Boolean)).toHaveLength(1);
  });
});
