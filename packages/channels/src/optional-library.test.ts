import { type OutboundPart, silentLogger } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChannelDefinition, ChannelState } from './adapter.ts';
import { withOptionalLibrary } from './optional-library.ts';

function missing(name: string): Error {
  const words = `Cannot find package '${name}' imported from /srv/parley/adapter.ts`;
  return Object.assign(new Error(words), { code: 'ERR_MODULE_NOT_FOUND' });
}

function channelFailingWith(error: Error) {
  const definition: ChannelDefinition = {
    id: 'example',
    settings: z.unknown(),
    probe: () => Promise.reject(error),
    load: () => Promise.reject(error),
  };
  return withOptionalLibrary(definition, {
    platform: 'Example',
    name: '@example/client',
    parts: ['example-wire'],
    note: 'a part is under GPL-3.0',
    capabilities: {
      target: { dialect: 'telegram', maxLength: 4_000, unit: 'utf16' },
      idempotentSend: false,
    },
  });
}

const PART: OutboundPart = {
  id: 'part_1',
  idempotencyKey: 'k',
  turnId: null,
  index: null,
  route: {
    channel: 'example',
    account: 'default',
    chatId: 'c',
    target: { dialect: 'telegram', maxLength: 4_000, unit: 'utf16' },
  },
  body: { text: 'x', plain: 'x' },
};

const ADVICE = {
  reason: 'Example needs the library @example/client, which is not installed',
  fix: expect.stringMatching(
    /^Run "npm install .*" \(a part is under GPL-3\.0\), and start Parley again\.$/,
  ),
};

async function accountWithout(name: string) {
  const states: ChannelState[] = [];
  const connect = await channelFailingWith(missing(name)).load();
  const adapter = connect({
    account: 'default',
    settings: {},
    log: silentLogger,
    clock: () => 0,
    monotonic: () => 0,
    values: createInMemoryAdapterValues(),
    receive: async () => ({ kind: 'duplicate' }),
    holdsAccount: () => true,
    revise: async () => {},
    reacted: async () => {},
    message: async () => null,
    commands: [],
    report: (state) => states.push(state),
    skipped: async () => {},
    ignored: async () => {},
    notifyOwner: async () => {},
    history: async () => [],
  });
  return { adapter, states };
}

describe('a channel without its optional library', () => {
  it.each(['@example/client', 'example-wire'])(
    '[F03] [U06] fails and reports which package to install: %s',
    async (name) => {
      const { adapter, states } = await accountWithout(name);
      await adapter.start();
      await adapter.stop();
      expect(states).toEqual([{ kind: 'failed', ...ADVICE }, { kind: 'stopped' }]);
    },
  );

  it('[U06] reports the missing package to the settings check too', async () => {
    const { probe } = channelFailingWith(missing('@example/client'));
    const signal = new AbortController().signal;
    const found = await probe?.({}, { signal, log: silentLogger } as never);
    expect(found).toEqual({ kind: 'problem', ...ADVICE, retryable: false });
  });

  it('keeps answers until the library is installed, and does not declare unavailable capabilities', async () => {
    const { adapter } = await accountWithout('example-wire');
    await expect(adapter.send(PART, new AbortController().signal)).rejects.toMatchObject({
      failure: { kind: 'transient' },
    });
    const { edit, react, typing, media } = adapter.capabilities;
    expect([edit, react, typing, media]).toEqual([false, false, false, []]);
    expect([adapter.typing, adapter.messages, adapter.files]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is not confused with a channel whose library is broken', async () => {
    for (const error of [new Error('broken'), missing('something-else')]) {
      await expect(channelFailingWith(error).load()).rejects.toBe(error);
    }
  });
});
