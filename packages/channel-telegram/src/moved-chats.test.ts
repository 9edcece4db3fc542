import { createInMemoryAdapterValues } from '@parley/core/testing';
import { expect, it } from 'vitest';
import { MovedChatRegistry } from './moved-chats.ts';

it('[D04] keeps the moves of two groups that are reported at the same time', async () => {
  const values = createInMemoryAdapterValues();
  const moved = new MovedChatRegistry(values);
  await Promise.all([moved.note('-5', '-1001000000005'), moved.note('-6', '-1001000000006')]);
  const afterRestart = new MovedChatRegistry(values);
  await afterRestart.load();
  expect([afterRestart.now('-5'), afterRestart.now('-6')]).toEqual([
    '-1001000000005',
    '-1001000000006',
  ]);
});

it('[D04] records a move after one that could not be stored', async () => {
  const values = createInMemoryAdapterValues();
  let isDown = true;
  const moved = new MovedChatRegistry({
    ...values,
    set: (changes) => (isDown ? Promise.reject(new Error('down')) : values.set(changes)),
  });
  await expect(moved.note('-5', '-1001000000005')).rejects.toThrow('down');
  isDown = false;
  await expect(moved.note('-5', '-1001000000005')).resolves.toBe(true);
});
