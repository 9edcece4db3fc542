import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { CurrentEvent, EventScope } from './event-scope.ts';
import { ChatState } from './state.ts';

const DAY = 24 * 60 * 60_000;

function scene() {
  let now = 1_000;
  const values = createInMemoryAdapterValues();
  const current = new CurrentEvent();
  const open = () =>
    new ChatState({
      values,
      clock: () => now,
      newId: () => crypto.randomUUID(),
      current,
      assume: (key) => (key === 'assumed' ? 'this' : null),
    });
  const pass = (ms: number) => {
    now += ms;
  };
  return { values, current, open, pass };
}

describe("an adapter's state", () => {
  it('[D01] applies the values that an event has written only after the event is stored', async () => {
    const { current, open } = scene();
    const state = open();
    const scope = new EventScope();
    await current.run(scope, async () => {
      await state.set('delivered:1', true, DAY);
      expect(await state.get('delivered:1')).toBe(true);
    });
    expect(await state.get('delivered:1')).toBeNull();
    await state.apply(scope);
    expect(await state.get('delivered:1')).toBe(true);
  });

  it('persists only values that expire late or never', async () => {
    const { open, pass } = scene();
    const state = open();
    await state.set('installation', { token: 'x' });
    await state.set('address', 'y', 30 * DAY);
    await state.set('cached', 'z', DAY);
    await state.delete('missing');
    const later = open();
    expect(await later.get('installation')).toEqual({ token: 'x' });
    expect(await later.get('address')).toBe('y');
    expect(await later.get('cached')).toBeNull();
    expect(await later.get('assumed')).toBe('this');
    pass(31 * DAY);
    expect(await later.get('address')).toBeNull();
    await later.delete('installation');
    expect(await open().get('installation')).toBeNull();
  });

  it('rewrites an unchanged value only after half of its lifetime', async () => {
    const { open, values, pass } = scene();
    let writes = 0;
    const { set } = values;
    values.set = (changes) => {
      writes += changes.length;
      return set(changes);
    };
    const state = open();
    for (const ms of [0, DAY, 13 * DAY, 2 * DAY]) {
      pass(ms);
      await state.set('address', 'y', 30 * DAY);
    }
    expect(writes).toBe(2);
    pass(29 * DAY);
    expect(await open().get('address')).toBe('y');
  });

  it('sets a value only if there is none yet, and keeps the latest items in a list', async () => {
    const { open } = scene();
    const state = open();
    expect(await state.setIfNotExists('a', 1)).toBe(true);
    expect(await state.setIfNotExists('a', 2)).toBe(false);
    for (const each of [1, 2, 3]) await state.appendToList('list', each, { maxLength: 2 });
    expect(await state.getList('list')).toEqual([2, 3]);
    expect(await state.getList('none')).toEqual([]);
  });

  it('lets one owner hold a lock until the lock expires', async () => {
    const { open, pass } = scene();
    const state = open();
    const lock = await state.acquireLock('thread', 100);
    expect(await state.acquireLock('thread', 100)).toBeNull();
    if (lock === null) throw new Error('it is not locked');
    expect(await state.extendLock(lock, 200)).toBe(true);
    pass(201);
    expect(await state.extendLock(lock, 100)).toBe(false);
    const next = await state.acquireLock('thread', 100);
    await state.releaseLock(lock);
    expect(await state.acquireLock('thread', 100)).toBeNull();
    if (next !== null) await state.releaseLock(next);
    expect(await state.acquireLock('thread', 100)).not.toBeNull();
  });

  it("remembers an adapter's thread subscriptions", async () => {
    const { open } = scene();
    await open().subscribe('thread');
    const state = open();
    expect(await state.isSubscribed('thread')).toBe(true);
    await state.unsubscribe('thread');
    expect(await state.isSubscribed('thread')).toBe(false);
  });
});
