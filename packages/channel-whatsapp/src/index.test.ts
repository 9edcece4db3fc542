import { execFileSync } from 'node:child_process';
import type { ChannelState } from '@parley/channels';
import { memoryValues, type OutboundPart, silentLogger } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { whatsapp, whatsappFrom } from './index.ts';

function missing(name: string): Error {
  const words = `Cannot find package '${name}' imported from /srv/parley/adapter.ts`;
  return Object.assign(new Error(words), { code: 'ERR_MODULE_NOT_FOUND' });
}

const PART: OutboundPart = {
  id: 'part_1',
  idempotencyKey: 'k',
  turnId: null,
  index: null,
  route: { channel: 'whatsapp', account: 'default', chatId: 'c', target: targetOf() },
  body: { text: 'x', plain: 'x' },
};

function targetOf() {
  return { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' } as const;
}

async function accountWithout(name: string) {
  const states: ChannelState[] = [];
  const connect = await whatsappFrom(() => Promise.reject(missing(name))).load();
  const adapter = connect({
    account: 'default',
    settings: {},
    log: silentLogger,
    clock: () => 0,
    values: memoryValues(),
    receive: async () => ({ kind: 'duplicate' }),
    holdsAccount: () => true,
    revise: async () => {},
    reacted: async () => {},
    message: async () => null,
    commands: [],
    report: (state) => states.push(state),
    tellOwner: async () => {},
    history: async () => [],
  });
  return { adapter, states };
}

describe('WhatsApp without its optional library', () => {
  it.each(['@whiskeysockets/baileys', 'libsignal'])(
    '[F03] has failed and says what to install: %s',
    async (name) => {
      const { adapter, states } = await accountWithout(name);
      await adapter.start();
      await adapter.stop();
      expect(states).toEqual([
        {
          kind: 'failed',
          reason: expect.stringContaining('not installed'),
          fix: expect.stringContaining('npm install'),
        },
        { kind: 'stopped' },
      ]);
    },
  );

  it('keeps answers for later, and offers nothing that it cannot do', async () => {
    const { adapter } = await accountWithout('libsignal');
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

  it('is something else than a library that is broken', async () => {
    for (const error of [new Error('broken'), missing('something-else')]) {
      await expect(whatsappFrom(() => Promise.reject(error)).load()).rejects.toBe(error);
    }
  });
});

describe('WhatsApp', () => {
  it('[F05] never answers a stranger', () => {
    expect(whatsapp.answersStrangers).toBe(false);
  });
});

describe('WhatsApp that is not configured', () => {
  it('[F03] brings neither Baileys nor the drawing of codes', () => {
    const program = `
      const { registerHooks } = await import('node:module');
      const seen = [];
      registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) });
      await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
      console.log(JSON.stringify(seen));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program]);
    const names: unknown = JSON.parse(printed.toString());
    expect(names).toContain('./settings.ts');
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/baileys|signal$/)]));
    expect(names).not.toContain('qrcode');
  });
});
