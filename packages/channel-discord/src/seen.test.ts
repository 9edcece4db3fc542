import { type AdapterValues, silentLogger } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { expect, it } from 'vitest';
import type { StartTimer } from './connection.ts';
import { MessageCursorStore } from './seen.ts';

const seenOf = (values: Pick<AdapterValues, 'get' | 'set'>, later: StartTimer) =>
  new MessageCursorStore({ values, log: silentLogger, later });
const never = () => () => {};
const stored = async (values: ReturnType<typeof createInMemoryAdapterValues>) =>
  (await values.get('seen', ['all'])).get('all');

it('[D01] stores a newly served channel immediately, and its progress after a delay', async () => {
  const values = createInMemoryAdapterValues();
  const waiting: (() => void)[] = [];
  const seen = seenOf(values, (work) => {
    waiting.push(work);
    return () => {};
  });
  await seen.note('1', '100', true);
  expect(await stored(values)).toBe(
    '{"newest":"100","channels":{"1":"100"},"pages":0,"sessions":[]}',
  );
  await seen.note('1', '102', true);
  await seen.note('1', '101', false);
  await seen.note('2', '103', false);
  expect(waiting).toHaveLength(1);
  await seen.flush();
  const again = seenOf(values, never);
  await again.load();
  expect(again.cursors()).toEqual({ newest: '103', channels: new Map([['1', '102']]) });
});

const at = (session: string, seq: number) => ({ session, url: 'ws://a', me: '9', seq });
async function nextProcess(
  values: ReturnType<typeof createInMemoryAdapterValues>,
): Promise<MessageCursorStore> {
  const next = seenOf(values, never);
  await next.load();
  return next;
}

it('[D01] stores a new session immediately and keeps the earlier sessions, so that the next process can resume all of them', async () => {
  const values = createInMemoryAdapterValues();
  const seen = seenOf(values, never);
  const resumed = async () => (await nextProcess(values)).sessions;
  seen.moveTo(at('a', 1));
  await expect.poll(resumed).toEqual([at('a', 1)]);
  seen.moveTo(at('a', 2));
  seen.track('100');
  seen.moveTo(at('a', 3));
  expect(await resumed()).toEqual([at('a', 1)]);
  seen.moveTo(at('b', 1));
  await expect.poll(resumed).toEqual([at('a', 2), at('b', 1)]);
  seen.end('a');
  await seen.flush();
  expect(await resumed()).toEqual([at('b', 1), at('a', 2)]);
  await seen.note('1', '100', true);
  expect(await resumed()).toEqual([at('b', 1)]);
});

it('[D01] gives up the oldest session if too many have undelivered messages, and returns it', () => {
  const seen = seenOf(createInMemoryAdapterValues(), never);
  const givenUp = Array.from({ length: 9 }, (_, n) => seen.moveTo(at(`s${n}`, 1)));
  expect(givenUp).toEqual([...Array.from({ length: 8 }, () => undefined), at('s0', 1)]);
});

it('[D01] reads the positions and the session stored by version 0.1.0', async () => {
  const values = createInMemoryAdapterValues();
  const value = JSON.stringify({ newest: '7', channels: { 1: '7' }, session: at('a', 5) });
  await values.set([{ kind: 'seen', id: 'all', value }]);
  const seen = await nextProcess(values);
  expect(seen.cursors()).toEqual({ newest: '7', channels: new Map([['1', '7']]) });
  expect(seen.sessions).toEqual([at('a', 5)]);
});

it('[D01] keeps the stored position until all channel reads are complete', async () => {
  const seen = seenOf(createInMemoryAdapterValues(), never);
  await seen.note('1', '100', true);
  const [first, second] = [seen.hold('100'), seen.hold('100')];
  await seen.note('2', '200', true);
  first();
  expect(seen.cursors().newest).toBe('100');
  second();
  expect(seen.cursors().newest).toBe('200');
});

it('[D01] does not let a newer message in another channel hide a message that is still in progress', async () => {
  const seen = seenOf(createInMemoryAdapterValues(), never);
  await seen.note('1', '100', true);
  for (const id of ['101', '102', '103']) seen.track(id);
  await seen.note('2', '102', true);
  await seen.note('3', '103', true);
  expect(seen.cursors().newest).toBe('100');
  await seen.note('1', '101', true);
  expect(seen.cursors().newest).toBe('103');
});

it('[D01] keeps both channels if two become known at the same time', async () => {
  const values = createInMemoryAdapterValues();
  let delayMs = 20;
  const slow = {
    ...values,
    set: async (changes: Parameters<typeof values.set>[0]) => {
      const ms = delayMs;
      delayMs = 0;
      await new Promise((resolve) => setTimeout(resolve, ms));
      await values.set(changes);
    },
  };
  const seen = seenOf(slow, never);
  await Promise.all([seen.note('1', '100', true), seen.note('2', '101', true)]);
  expect(await stored(values)).toContain('"2":"101"');
});

it('[D01] retries a failed write after a delay', async () => {
  const values = createInMemoryAdapterValues();
  const waiting: (() => void)[] = [];
  let isDown = true;
  const failing = {
    ...values,
    set: async (changes: Parameters<typeof values.set>[0]) => {
      if (isDown) throw new Error('no database');
      await values.set(changes);
    },
  };
  const seen = seenOf(failing, (work) => {
    waiting.push(work);
    return () => {};
  });
  await seen.note('1', '100', true);
  isDown = false;
  for (const work of waiting) work();
  await expect.poll(() => stored(values)).toContain('"newest":"100"');
});

it('[D01] remembers thousands of channels across a restart and writes only what has changed', async () => {
  const values = createInMemoryAdapterValues();
  const written: string[][] = [];
  const watched = {
    ...values,
    set: async (changes: Parameters<typeof values.set>[0]) => {
      written.push(changes.map(({ id }) => id));
      await values.set(changes);
    },
  };
  const seen = seenOf(watched, never);
  for (let n = 1; n <= 2_500; n += 1) await seen.note(String(n), String(5_000 + n), true);
  await seen.note('1001', '9000', true);
  await seen.flush();
  expect(written.at(-1)).toEqual(['all', 'channels 1']);
  const { channels } = (await nextProcess(values)).cursors();
  expect(channels.size).toBe(2_500);
  expect([channels.get('1'), channels.get('1001'), channels.get('2500')]).toEqual([
    '5001',
    '9000',
    '7500',
  ]);
});

it('reports an unreadable value instead of treating it as absent', async () => {
  const values = createInMemoryAdapterValues();
  await values.set([{ kind: 'seen', id: 'all', value: '{"channels":' }]);
  await expect(seenOf(values, never).load()).rejects.toThrow('JSON');
});

it('[D01] reads a direct chat starting at the command that revealed it, or at an earlier message in progress', async () => {
  const seen = seenOf(createInMemoryAdapterValues(), never);
  await seen.note('1', '100', true);
  await seen.serve('2', '200');
  seen.track('150');
  await seen.serve('3', '201');
  await seen.serve('1', '202');
  seen.setGap('120');
  await seen.serve('4', '203');
  const channels = { 1: '100', 2: '200', 3: '149' };
  expect(Object.fromEntries(seen.cursors().channels)).toEqual(channels);
});
