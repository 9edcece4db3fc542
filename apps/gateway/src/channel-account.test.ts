import {
  type ChannelContext,
  type ChannelDefinition,
  guarded,
  reportAdapterError,
} from '@parley/channels';
import { type LiveBus, silentLogger, silentMeter, systemTime } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { createLocalBus, createWakeDelivery, openTurnQueue, type WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AccountDeps } from './accounts/account.ts';
import type { AccountRight, AccountRights } from './accounts/account-rights.ts';
import { type AccountSweeps, sweepAccounts } from './accounts/sweep-accounts.ts';
import { type ChannelAccount, openAccount } from './channel-account.ts';

/** Rights that a test grants and revokes. */
class GivenRights implements AccountRights {
  readonly released: number[] = [];
  /** The held state changes immediately, like a clock; the signals are aborted later. */
  isHeld = true;
  #waiting: ((right: AccountRight) => void)[] = [];
  #lost: AbortController[] = [];
  #recalled: AbortController[] = [];
  readonly #outbox: Store['outbox'];

  constructor(outbox: Store['outbox']) {
    this.#outbox = outbox;
  }

  async obtain(_name: unknown, standby: (holder: string) => void, signal: AbortSignal) {
    standby('the other one');
    const { promise, resolve } = Promise.withResolvers<AccountRight | null>();
    signal.addEventListener('abort', () => resolve(null));
    this.#waiting.push(resolve);
    return promise;
  }

  give(lease: AccountRight['lease'] = null): void {
    const lost = new AbortController();
    const recalled = new AbortController();
    this.#recalled.push(recalled);
    const number = this.#lost.push(lost);
    this.#waiting.pop()?.({
      lost: lost.signal,
      recalled: recalled.signal,
      lease,
      outbox: this.#outbox,
      isHeld: () => this.isHeld,
      isShared: true,
      release: async () => void this.released.push(number),
    });
  }

  take(): void {
    this.#lost.at(-1)?.abort();
  }

  recall(): void {
    this.#recalled.at(-1)?.abort();
  }

  async holder() {
    return null;
  }

  leave(): void {}

  async close() {}
}

describe('an account that other gateways may serve', () => {
  let store: Store;
  let turns: WakeUpQueue;
  let rights: GivenRights;
  let sweeps: AccountSweeps;
  let states: string[];
  let happened: string[];
  /** The contexts passed to the started adapters. */
  let contexts: ChannelContext<unknown>[];
  let bus: LiveBus;
  let account: ChannelAccount;
  beforeEach(async () => {
    store = await openMemoryStore({ clock: Date.now });
    turns = await openTurnQueue({ url: 'memory:', log: silentLogger });
    rights = new GivenRights(store.outbox);
    states = [];
    happened = [];
    contexts = [];
    bus = createLocalBus(silentLogger);
    sweeps = sweepAccounts({ store, clock: Date.now, log: silentLogger });
    account = await openAccount(depsOf(), { definition, account: 'default', settings: {}, rules });
  });
  afterEach(async () => {
    await account.stopReceiving();
    await account.close(0);
    await sweeps.stop();
    await turns.close();
    await store.close();
  });

  const depsOf = (): AccountDeps => ({
    store,
    turns,
    rights,
    bus,
    sweeps,
    log: silentLogger,
    meter: silentMeter,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    random: Math.random,
    scrub: (text) => text,
    checkpoint: () => {},
    situation: () => ({ agentName: 'Polly', model: 'none', models: [] }),
    media: { fileBytes: 1, messageBytes: 1, keptBytes: 1, personFiles: 1, personBytes: 1 },
    onState: ({ state }) => void states.push(state.kind),
  });
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
  /** Runs when an adapter starts; tests replace it. */
  let begins = (): void => {};
  /** A simulated platform that counts how often an adapter is created, started and stopped. */
  let made = 0;
  const definition: ChannelDefinition = {
    id: 'test',
    settings: z.unknown(),
    load: async () => (context) => {
      made += 1;
      const name = `adapter ${made}`;
      return {
        capabilities: { ...CAPABILITIES, idempotentSend: true },
        async start() {
          happened.push(`${name} starts`);
          contexts.push(context);
          begins();
          context.report({ kind: 'connected', as: name });
        },
        async stop() {
          happened.push(`${name} stops`);
          context.report({ kind: 'stopped' });
        },
        async send({ id }) {
          happened.push(`${name} sends`);
          return { platformMessageId: id };
        },
        http: { fetch: async () => new Response(name) },
      };
    },
  };

  it('[D09] does not contact the platform while it is on standby', async () => {
    expect(account.status().state).toEqual({ kind: 'standby', holder: 'the other one' });
    expect(account.connected()).toBeUndefined();
    expect(happened).toEqual([]);
    const answer = await account
      .http()
      ?.fetch(new Request('http://127.0.0.1/channels/test/default/'));
    expect(answer?.status).toBe(503);
    rights.give();
    await expect.poll(() => account.status().state.kind).toBe('connected');
    expect(account.connected()).toBeDefined();
  });

  it('[D09] disconnects when its right is lost, and reconnects when the right is acquired again', async () => {
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    rights.take();
    await expect.poll(() => states.at(-1)).toBe('standby');
    expect(account.connected()).toBeUndefined();
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    const [first, end, second] = happened.map((line) => line.replace(/^adapter /, ''));
    expect(end).toBe(first?.replace('starts', 'stops'));
    expect(second).not.toBe(first);
    expect(states).toEqual(['standby', 'connected', 'starting', 'standby', 'connected']);
  });

  it("[D09] keeps the adapter of a lost account from writing values that the account's next holder would read", async () => {
    const take = async (now: number) => {
      const acquired = await store.leases.acquire('account:test/default', `at ${now}`, 0);
      if (acquired.kind === 'busy') throw new Error('it is held');
      rights.give(acquired.lease);
      await expect.poll(() => states.at(-1)).toBe('connected');
    };
    const change = (value: string) => [{ kind: 'streamed', id: 'turn', value }];
    await take(0);
    await contexts[0]?.values.set(change('first'));
    rights.take();
    await expect.poll(() => states.at(-1)).toBe('standby');
    await take(20);
    const [old, current] = contexts.map(({ values }) => values);
    await expect(old?.set(change('late'))).rejects.toMatchObject({ code: 'store-fenced' });
    await expect(old?.clear()).rejects.toMatchObject({ code: 'store-fenced' });
    expect([...((await current?.get('streamed', ['turn'])) ?? [])]).toEqual([['turn', 'first']]);
    await current?.set(change('second'));
  });

  it('[D09] does not send messages or previews after its lease has expired, even if they were already pending', async () => {
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    const chat = { channel: 'test', account: 'default', chatId: '1' };
    const route = { ...chat, target: { dialect: 'plain', maxLength: 100, unit: 'utf16' } } as const;
    const allowed = () => [account.mayPreview(route), contexts[0]?.holdsAccount()];
    expect(allowed()).toEqual([true, true]);
    rights.isHeld = false;
    expect(allowed()).toEqual([false, false]);
    await store.outbox.enqueue([{ route, body: { text: 'late', plain: 'late' } }], 1);
    await createWakeDelivery(bus)('test', 'default', '1');
    const notBefore = async () => (await store.outbox.unfinished(chat, 1))[0]?.notBefore;
    await expect.poll(notBefore).toBeGreaterThan(1);
    expect(happened).toEqual([expect.stringMatching(/starts$/)]);
  });

  it('[D14] disconnects before the account is handed over, and then waits to get it back', async () => {
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    const before = happened.length;
    rights.recall();
    await expect.poll(() => states.at(-1)).toBe('standby');
    expect(happened.slice(before)).toEqual([happened.at(-1)?.replace('starts', 'stops')]);
    expect(rights.released).toEqual([1]);
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    await account.stopReceiving();
    await account.close(100);
    expect(rights.released).toEqual([1, 2]);
  });

  it('[D11] releases the right at shutdown and reports that the account has stopped', async () => {
    rights.give();
    await expect.poll(() => states.at(-1)).toBe('connected');
    await account.stopReceiving();
    expect(rights.released).toEqual([]);
    await account.close(100);
    expect(rights.released).toEqual([1]);
    expect(states.at(-1)).toBe('stopped');
  });

  const broken = () => {
    throw new Error('no such field');
  };
  /** In production, the handler for uncaught errors calls `blameAdapter`. */
  const uncaught = () => {
    try {
      broken();
    } catch (error) {
      expect(reportAdapterError(error)).toBe(true);
    }
  };
  it.each<[string, () => void]>([
    ['a listener', () => setTimeout(guarded('tick', broken))],
    ['a listener that nobody awaits', () => setTimeout(guarded('tick', async () => broken()))],
    ['its library, in a timer,', () => setTimeout(uncaught)],
    ['its library, later,', () => void Promise.resolve().then(uncaught)],
  ])('[D12] restarts the adapter and keeps the account if %s throws', async (_who, fails) => {
    begins = () => {
      begins = () => {};
      fails();
    };
    rights.give();
    await expect.poll(() => happened.length).toBe(3);
    const [first, , second] = happened;
    expect(happened[1]).toBe(first?.replace('starts', 'stops'));
    expect(second).toMatch(/starts$/);
    expect(states).toEqual(['standby', 'connected', 'retrying', 'connected']);
    expect(rights.released).toEqual([]);
  });

  it('[F12] uses the interval between edits from its settings, even after the settings change', async () => {
    expect(account.updateEveryMs()).toBe(0);
    const answers = { ...rules.policy.answers, editSeconds: 2 };
    account.useRules({ ...rules, policy: { ...rules.policy, answers } });
    expect(account.updateEveryMs()).toBe(2_000);
  });

  it('[D11] shuts down while on standby', async () => {
    await account.stopReceiving();
    expect(account.status().state.kind).toBe('stopped');
    expect(happened).toEqual([]);
  });
});
