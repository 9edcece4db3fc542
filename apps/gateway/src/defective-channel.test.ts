import type { ChannelAdapter, ChannelDefinition } from '@parley/channels';
import { type LiveBus, silentLogger, silentMeter, systemTime } from '@parley/core';
import { CAPABILITIES, toRunOptions } from '@parley/core/testing';
import { createLocalBus, createWakeDelivery, openTurnQueue, type WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { AccountDeps } from './accounts/account.ts';
import { type AccountSweeps, sweepAccounts } from './accounts/sweep-accounts.ts';
import { type ChannelAccount, openAccount } from './channel-account.ts';
import { decideHealth } from './http/health.ts';

const PLACE = { channel: 'board', account: 'default', chatId: '1' } as const;
const rules = {
  policy: {
    access: {
      direct: 'open',
      groups: 'disabled',
      allow: [],
      allowGroups: [],
      groupCommands: 'owners',
    },
    activation: 'mention',
    answers: { mentions: 'dead', numbered: false },
  },
  owners: [],
  limits: { messageCharacters: 100, waitingPerConversation: 5, totalWaiting: 100 },
} as const;

/** Invalid receipts from a plugin: a wrong field, a wrong type, or no receipt. */
const wrongReceipt = fc.oneof(
  fc.constantFrom(undefined, null, '', 'ok', 7, true, [], {}),
  fc.record({ messageId: fc.string() }),
  fc.record({
    platformMessageId: fc.oneof(
      fc.constantFrom(null, undefined, '', {}, [], 1.5, Number.NaN, true, 'x'.repeat(300)),
      fc.record({ id: fc.string() }),
    ),
  }),
);

let store: Store;
let turns: WakeUpQueue;
let bus: LiveBus;
let sweeps: AccountSweeps;
let account: ChannelAccount;
/** The text of each send, in order. */
let sends: string[];

/** Connects a channel the way a plugin would provide it. */
async function connect(send: (nth: number) => unknown): Promise<void> {
  sends = [];
  const definition: ChannelDefinition = {
    id: 'board',
    settings: z.unknown(),
    load: async () => (context) => {
      const adapter: object = {
        capabilities: CAPABILITIES,
        start: async () => context.report({ kind: 'connected', as: 'board' }),
        stop: async () => {},
        send: async ({ body }: { body: { text: string } }) => {
          sends.push(body.text);
          return send(sends.length);
        },
      };
      return adapter as ChannelAdapter;
    },
  };
  account = await openAccount(deps(), { definition, account: 'default', settings: {}, rules });
}

const deps = (): AccountDeps => ({
  store,
  turns,
  bus,
  sweeps,
  log: silentLogger,
  meter: silentMeter,
  clock: systemTime.clock,
  monotonic: systemTime.monotonic,
  random: () => 0.5,
  scrub: (text) => text,
  checkpoint: () => {},
  situation: () => ({ agentName: 'Polly', model: 'none', models: [] }),
  media: { fileBytes: 1, messageBytes: 1, keptBytes: 1, personFiles: 1, personBytes: 1 },
});

async function owe(count: number): Promise<void> {
  const route = { ...PLACE, target: CAPABILITIES.target };
  const partOf = (nth: number) => ({
    route,
    body: { text: `part ${nth}`, plain: `part ${nth}` },
  });
  const others = Array.from({ length: count - 1 }, (_, nth) => partOf(nth + 1));
  await store.outbox.post({ key: 'k', parts: [partOf(0), ...others] }, systemTime.clock());
  await createWakeDelivery(bus)(PLACE.channel, PLACE.account, PLACE.chatId);
}

/** The timeout is long enough for slow machines. */
const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 30_000 });

const states = async () => (await store.outbox.recent(PLACE, 100)).map(({ state }) => state);

async function open(): Promise<void> {
  store = await openMemoryStore({ clock: systemTime.clock });
  turns = await openTurnQueue({ url: 'memory:', log: silentLogger });
  bus = createLocalBus(silentLogger);
  sweeps = sweepAccounts({ store, clock: systemTime.clock, log: silentLogger });
}

async function close(): Promise<void> {
  await account.stopReceiving();
  await account.close(0);
  await sweeps.stop();
  await turns.close();
  await store.close();
}

describe("a plugin's channel that returns invalid receipts", () => {
  beforeEach(open);
  afterEach(close);

  it('[F01] [D04] sends each message part once, does not report the fault in chats, and is stopped after three faults', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(wrongReceipt, { minLength: 3, maxLength: 3 }), async (receipts) => {
          await connect((nth) => receipts[(nth - 1) % receipts.length]);
          await owe(6);
          await until(() => expect(account.status().state.kind).toBe('failed'));
          expect(sends).toEqual(['part 0', 'part 1', 'part 2']);
          // No message part is uncertain, and no notice was sent to the chat.
          expect((await states()).toSorted()).toEqual([
            ...['pending', 'pending', 'pending'],
            ...['sent', 'sent', 'sent'],
          ]);
          expect(account.status()).toMatchObject({
            state: { reason: expect.stringContaining('"send" returned invalid results') },
            defects: { count: 3, last: { what: 'send' } },
          });
          expect(decideHealth([], [account.status()]).status).toBe('down');
        })
        .afterEach(async () => {
          await close();
          await open();
        }),
      toRunOptions(12),
    );
    await connect(() => ({ platformMessageId: '1' }));
  });

  it('[F01] reports a single invalid receipt while the channel keeps working', async () => {
    await connect((nth) => (nth === 1 ? { messageId: '1' } : { platformMessageId: `m${nth}` }));
    await owe(4);
    await until(async () => expect(await states()).toEqual(['sent', 'sent', 'sent', 'sent']));
    expect(sends).toHaveLength(4);
    const status = account.status();
    expect(status).toMatchObject({ state: { kind: 'connected' }, defects: { count: 1 } });
    expect(decideHealth([], [status])).toEqual({
      status: 'degraded',
      reasons: ['board/default: channel contract violations by its adapter: 1'],
    });
  });

  it('[D04] causes one notice per message part if every outcome is unknown', async () => {
    await connect(() => Promise.reject(new TypeError('x is undefined')));
    await owe(1);
    await until(async () => expect(await states()).toEqual(['unknown', 'unknown']));
    expect(sends).toHaveLength(2);
    expect(sends[1]).toContain('cannot tell whether it arrived');
    expect(account.status()).toMatchObject({ state: { kind: 'connected' }, defects: { count: 2 } });
  });
});
