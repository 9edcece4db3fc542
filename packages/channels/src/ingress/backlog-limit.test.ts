import { describe, expect, it } from 'vitest';
import { createBacklogLimit } from './limits.ts';

function open(limit: number) {
  const state = { now: 0, waiting: 0, looks: 0 };
  const waitingInAll = async () => {
    state.looks += 1;
    return state.waiting;
  };
  const backlog = createBacklogLimit(
    { waitingInAll },
    () => limit,
    () => state.now,
  );
  /** One more message that waits, if there is room. */
  const take = async (): Promise<boolean> => {
    const may = await backlog.reserve();
    if (may) backlog.release(true);
    return may;
  };
  return { state, backlog, take };
}

describe('the limit of all that waits', () => {
  it('[D07] counts what it took itself, and looks for the rest once a second', async () => {
    const { state, take } = open(10);
    for (let taken = 0; taken < 10; taken += 1) expect(await take()).toBe(true);
    expect(await take()).toBe(false);
    expect(state.looks).toBe(1);
    state.now += 1_000;
    expect(await take()).toBe(true);
    expect(state.looks).toBe(2);
  });

  it('[D07] lets no more in when many come at the same moment', async () => {
    const { state, backlog } = open(10);
    const all = await Promise.all(Array.from({ length: 30 }, () => backlog.reserve()));
    expect(all.filter((may) => may)).toHaveLength(10);
    expect(state.looks).toBe(1);
  });

  it('[D07] has room again for what did not stay', async () => {
    const { backlog, take } = open(1);
    expect(await backlog.reserve()).toBe(true);
    expect(await take()).toBe(false);
    backlog.release(false);
    expect(await take()).toBe(true);
  });

  it('[D07] notices what others took, and soon when there is room again', async () => {
    const { state, take } = open(10);
    await take();
    state.waiting = 10;
    expect(await take()).toBe(true);
    state.now += 1_000;
    expect(await take()).toBe(false);
    state.waiting = 9;
    expect(await take()).toBe(false);
    state.now += 50;
    expect(await take()).toBe(true);
  });

  it('[D07] does not count for each message of a flood', async () => {
    const { state, take } = open(10);
    state.waiting = 10;
    for (let sent = 0; sent < 1_000; sent += 1) {
      state.now += 1;
      await take();
    }
    expect(state.looks).toBeLessThanOrEqual(21);
  });
});
