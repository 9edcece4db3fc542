import { describe, expect, it } from 'vitest';
import { createWaitingRoom } from './waiting-room.ts';

describe('the room for all that waits', () => {
  function open(limit: number) {
    const state = { now: 0, waiting: 0, looks: 0 };
    const waitingInAll = async () => {
      state.looks += 1;
      return state.waiting;
    };
    return { state, room: createWaitingRoom({ waitingInAll }, limit, () => state.now) };
  }

  it('[D07] counts what it took itself, and looks for the rest once a second', async () => {
    const { state, room } = open(10);
    for (let taken = 0; taken < 10; taken += 1) {
      expect(await room.hasRoom()).toBe(true);
      room.took();
    }
    expect(await room.hasRoom()).toBe(false);
    expect(state.looks).toBe(1);
    state.now += 1_000;
    expect(await room.hasRoom()).toBe(true);
    expect(state.looks).toBe(2);
  });

  it('[D07] notices what others took, and soon when there is room again', async () => {
    const { state, room } = open(10);
    await room.hasRoom();
    state.waiting = 10;
    expect(await room.hasRoom()).toBe(true);
    state.now += 1_000;
    expect(await room.hasRoom()).toBe(false);
    state.waiting = 9;
    expect(await room.hasRoom()).toBe(false);
    state.now += 50;
    expect(await room.hasRoom()).toBe(true);
  });

  it('[D07] does not count for each message of a flood', async () => {
    const { state, room } = open(10);
    state.waiting = 10;
    for (let sent = 0; sent < 1_000; sent += 1) {
      state.now += 1;
      await room.hasRoom();
    }
    expect(state.looks).toBeLessThanOrEqual(21);
  });
});
