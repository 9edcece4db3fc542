import { memoryValues, silentLogger } from '@parley/contracts';
import { expect, it } from 'vitest';
import { Seen } from './seen.ts';

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

it('[D07] only so many channels are remembered, those last heard of', async () => {
  const values = memoryValues();
  const seen = new Seen(values, silentLogger, never);
  for (let n = 1; n <= 301; n += 1) await seen.note(String(n), String(1_000 + n), true);
  const { channels } = seen.cursors();
  expect(channels.size).toBe(300);
  expect(channels.has('1')).toBe(false);
});

it('what cannot be read is told, not taken for nothing', async () => {
  const values = memoryValues();
  await values.set([{ kind: 'seen', id: 'all', value: '{"channels":' }]);
  await expect(new Seen(values, silentLogger, never).load()).rejects.toThrow('JSON');
});
