import { silentLogger } from '@parley/core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createEventHub,
  createFollowingHub,
  type EventHub,
  type WebEvent,
  type WebHistoryEntry,
} from './events.ts';

const part = (partId: string): WebHistoryEntry => ({
  type: 'part',
  partId,
  turnId: null,
  text: partId,
  at: 0,
});

describe('a chat that several gateways serve', () => {
  let history: WebHistoryEntry[];
  let looks: number;
  let seen: WebEvent[];
  let hub: EventHub;
  beforeEach(() => {
    history = [part('old')];
    looks = 0;
    seen = [];
    const newest = async () => {
      looks += 1;
      if (looks === 2) throw new Error('the database is away for a moment');
      return [...history];
    };
    hub = createFollowingHub(createEventHub(), {
      chatId: 'main',
      newest,
      log: silentLogger,
      everyMs: 5,
    });
  });
  const watch = () => hub.watch('main', (event) => void seen.push(event));
  const looked = (times: number) => vi.waitFor(() => expect(looks).toBeGreaterThan(times), 30_000);

  it('[D09] notifies viewers once of a message part sent by another gateway', async () => {
    const unwatch = watch();
    await looked(3);
    history.push(part('there'));
    await looked(looks + 3);
    expect(seen).toEqual([part('there')]);
    unwatch();
  });

  it('[D09] [U08] notifies viewers once of an entry replaced at another gateway', async () => {
    const unwatch = watch();
    await looked(3);
    history[0] = { type: 'replaced', id: 'old' };
    await looked(looks + 3);
    expect(seen).toEqual([{ type: 'replaced', id: 'old' }]);
    unwatch();
  });

  it('[G23] notifies viewers once of entries rewound at another gateway', async () => {
    const unwatch = watch();
    await looked(3);
    history[0] = { ...part('old'), isRewound: true } as WebHistoryEntry;
    await looked(looks + 3);
    expect(seen).toEqual([{ type: 'rewound' }]);
    unwatch();
  });

  it('[D09] does not repeat a message part sent by this gateway', async () => {
    const unwatch = watch();
    await looked(3);
    history.push(part('here'));
    hub.publish('main', part('here'));
    await looked(looks + 3);
    expect(seen).toEqual([part('here')]);
    unwatch();
  });

  it('is not polled while it has no viewers', async () => {
    watch()();
    await looked(0);
    const before = looks;
    await new Promise((wake) => setTimeout(wake, 30));
    expect(looks).toBeLessThanOrEqual(before + 1);
    history.push(part('meanwhile'));
    const unwatch = watch();
    await looked(looks + 3);
    expect(seen).toEqual([]);
    unwatch();
  });
});
