import { silentLogger, systemTime } from '@parley/core';
import { CAPABILITIES, createInMemoryAdapterValues } from '@parley/core/testing';
import { expect, it } from 'vitest';
import type { ChannelAdapter, ChannelContext } from './adapter.ts';
import { guardAdapter, reportAdapterError } from './guard.ts';

it('[D12] an error in a core callback is not attributed to the adapter that called it', async () => {
  const faults: unknown[] = [];
  const blamed: boolean[] = [];
  const blame = async () => void blamed.push(reportAdapterError(new Error('of the core')));
  const context: ChannelContext<object> = {
    account: 'default',
    settings: {},
    log: silentLogger,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    values: { ...createInMemoryAdapterValues(), get: () => blame().then(() => new Map()) },
    receive: () => blame().then(() => ({ kind: 'ignored', reason: 'a test' })),
    holdsAccount: () => true,
    revise: blame,
    reacted: async () => {},
    message: async () => null,
    commands: [],
    report: () => void blame(),
    skipped: async () => {},
    ignored: async () => {},
    notifyOwner: async () => {},
    history: () => blame().then(() => []),
  };
  const connect = (core: ChannelContext<object>): ChannelAdapter => ({
    capabilities: CAPABILITIES,
    async start() {
      core.report({ kind: 'starting' });
      await core.values.get('kind', ['id']);
      await core.history('chat', 1);
      await core.revise({ kind: 'deleted', chatId: 'chat', messageId: '1' });
      await blame();
    },
    stop: async () => {},
    send: async ({ id }) => ({ platformMessageId: id }),
  });
  await guardAdapter(connect, context, (event) => faults.push(event)).start();
  expect(blamed).toEqual([false, false, false, false, true]);
  expect(faults).toEqual(['start']);
});
