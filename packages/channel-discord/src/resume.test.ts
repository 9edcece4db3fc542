import { memoryValues, silentLogger } from '@parley/core';
import { expect, it } from 'vitest';
import { Seen } from './resume.ts';

const never = () => () => {};
const stored = async (values: ReturnType<typeof memoryValues>) =>
  (await values.get('seen', ['all'])).get('all');

it('[D01] a channel that is served is remembered at once, how far it has come a little later', async () => {
  const values = memoryValues();
  const waiting: (() => void)[] = [];
  const seen = new Seen(values, silentLogger, (work) => {
    waiting.push(work);
    return () => {};
  });
  await seen.note('1', '100', true);
  expect(await stored(values)).toBe('{"newest":"100","channels":{"1":"100"}}');
  await seen.note('1', '102', true);
  await seen.note('1', '101', false);
  await seen.note('2', '103', false);
  expect(waiting).toHaveLength(1);
  await seen.flush();
  const again = new Seen(values, silentLogger, never);
  await again.load();
  expect(again.cursors()).toEqual({ newest: '103', channels: new Map([['1', '102']]) });
});

it('[D01] a new session is remembered at once, so that the next process can resume it', async () => {
  const values = memoryValues();
  const seen = new Seen(values, silentLogger, never);
  const at = (session: string, seq: number) => ({ session, url: 'ws://a', me: '9', seq });
  const resumed = async () => {
    const next = new Seen(values, silentLogger, never);
    await next.load();
    return next.position;
  };
  seen.moveTo(at('a', 1));
  await expect.poll(resumed).toEqual(at('a', 1));
  seen.moveTo(at('a', 2));
  seen.track('100');
  seen.moveTo(at('a', 3));
  expect(await resumed()).toEqual(at('a', 1));
  seen.moveTo(at('b', 1));
  await expect.poll(resumed).toEqual(at('a', 2));
});

it('[D01] a message that is not taken yet is not hidden by a newer one of another channel', async () => {
  const seen = new Seen(memoryValues(), silentLogger, never);
  await seen.note('1', '100', true);
  for (const id of ['101', '102', '103']) seen.track(id);
  await seen.note('2', '102', true);
  await seen.note('3', '103', true);
  expect(seen.cursors().newest).toBe('100');
  await seen.note('1', '101', true);
  expect(seen.cursors().newest).toBe('103');
});

it('[D01] of two channels that become known at once neither is forgotten', async () => {
  const values = memoryValues();
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
  const seen = new Seen(slow, silentLogger, never);
  await Promise.all([seen.note('1', '100', true), seen.note('2', '101', true)]);
  expect(await stored(values)).toContain('"2":"101"');
});

it('[D01] what could not be written is written a little later', async () => {
  const values = memoryValues();
  const waiting: (() => void)[] = [];
  let isDown = true;
  const failing = {
    ...values,
    set: async (changes: Parameters<typeof values.set>[0]) => {
      if (isDown) throw new Error('no database');
      await values.set(changes);
    },
  };
  const seen = new Seen(failing, silentLogger, (work) => {
    waiting.push(work);
    return () => {};
  });
  await seen.note('1', '100', true);
  isDown = false;
  for (const work of waiting) work();
  await expect.poll(() => stored(values)).toContain('"newest":"100"');
});

it('[D07] only so many channels are remembered, those last heard of', async () => {
  const values = memoryValues();
  const seen = new Seen(values, silentLogger, never);
  for (let n = 1; n <= 1_001; n += 1) await seen.note(String(n), String(2_000 + n), true);
  const { channels } = seen.cursors();
  expect(channels.size).toBe(1_000);
  expect(channels.has('1')).toBe(false);
});

it('what cannot be read is reported, not treated as absent', async () => {
  const values = memoryValues();
  await values.set([{ kind: 'seen', id: 'all', value: '{"channels":' }]);
  await expect(new Seen(values, silentLogger, never).load()).rejects.toThrow('JSON');
});
