import { describe, expect, it } from 'vitest';
import { createBacklogLimit } from './limits.ts';

const OWNER = { person: 'telegram:1', isOwner: true };
const guest = (id: string) => ({ person: `telegram:${id}`, isOwner: false });

function open(limit: number) {
  const state = { now: 0, waiting: 0, looks: 0 };
  const totalWaiting = async () => {
    state.looks += 1;
    return state.waiting;
  };
  const backlog = createBacklogLimit(
    { totalWaiting },
    () => limit,
    () => state.now,
  );
  const take = async (from = OWNER): Promise<boolean> => {
    const room = await backlog.reserve(from);
    if (room === 'room') backlog.release(from, true);
    return room === 'room';
  };
  return { state, backlog, take };
}

describe('the limit on all waiting messages', () => {
  it('[D07] counts the messages stored by its own account, and queries the others once a second', async () => {
    const { state, take } = open(10);
    for (let taken = 0; taken < 10; taken += 1) expect(await take()).toBe(true);
    expect(await take()).toBe(false);
    expect(state.looks).toBe(1);
    state.now += 1_000;
    expect(await take()).toBe(true);
    expect(state.looks).toBe(2);
  });

  it('[D07] admits no more than the limit when many messages arrive at the same moment', async () => {
    const { state, backlog } = open(10);
    const all = await Promise.all(Array.from({ length: 30 }, () => backlog.reserve(OWNER)));
    expect(all.filter((room) => room === 'room')).toHaveLength(10);
    expect(state.looks).toBe(1);
  });

  it('[D07] frees the slots of messages that were not stored', async () => {
    const { backlog, take } = open(1);
    expect(await backlog.reserve(OWNER)).toBe('room');
    expect(await take()).toBe(false);
    backlog.release(OWNER, false);
    expect(await take()).toBe(true);
  });

  it('[D07] counts messages stored by other accounts, and soon notices freed slots', async () => {
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

  it('[D07] does not run a query for each message of a flood', async () => {
    const { state, take } = open(10);
    state.waiting = 10;
    for (let sent = 0; sent < 1_000; sent += 1) {
      state.now += 1;
      await take();
    }
    expect(state.looks).toBeLessThanOrEqual(21);
  });
});

describe("one person's share of all waiting messages", () => {
  async function takes({ take }: ReturnType<typeof open>, from: typeof OWNER, count: number) {
    let taken = 0;
    for (let nth = 0; nth < count; nth += 1) taken += (await take(from)) ? 1 : 0;
    return taken;
  }

  it('[D07] leaves slots for others and for owners, however many messages one person sends', async () => {
    const scene = open(1_000);
    expect(await takes(scene, guest('2'), 5_000)).toBe(600);
    expect(await takes(scene, guest('3'), 5_000)).toBe(100);
    for (const id of ['4', '5', '6']) await takes(scene, guest(id), 5_000);
    expect(await scene.backlog.reserve(guest('7'))).toBe('full');
    expect(await takes(scene, OWNER, 5_000)).toBe(100);
    expect(await scene.backlog.reserve(OWNER)).toBe('full');
  });

  it('[D07] resets when fewer messages are waiting', async () => {
    const scene = open(1_000);
    await takes(scene, guest('2'), 5_000);
    expect(await scene.backlog.reserve(guest('2'))).toBe('share');
    scene.state.now += 1_000;
    scene.state.waiting = 400;
    expect(await takes(scene, guest('2'), 5_000)).toBe(200);
  });
});
