import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelAdapter } from '@parley/channels';
import type { AdapterValue } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { accepted, noSignal, readFailure } from '../adapter-core.ts';
import {
  createPart,
  openScene,
  type WhatsAppScene,
  type WhatsAppSceneOptions,
} from './adapter-scene.ts';

/**
 * Expects that one person's messages have arrived exactly once and in this order, and that the
 * server keeps none of them.
 */
async function arrived(
  { double, texts }: WhatsAppScene,
  expected: readonly string[],
): Promise<void> {
  await double.waitFor(() => texts().length >= expected.length && double.waiting().length === 0);
  expect(texts()).toEqual(expected);
}

/** Values of one kind that temporarily cannot be read, as when a database is unavailable. */
function unreadable(kind: string) {
  const values = createInMemoryAdapterValues();
  let failures = 0;
  return {
    ...values,
    failNext: (times: number) => {
      failures = times;
    },
    get: async (wanted: string, ids: readonly string[]) => {
      if (wanted === kind && failures-- > 0) throw new Error('the database is away');
      return values.get(wanted, ids);
    },
  };
}

// A person's first message is decrypted with a one-time key, so it could be lost permanently.
describe('[D01] the WhatsApp adapter under interruption', () => {
  it.each(['drop-after', 'cut', 'twice'] as const)(
    'loses nothing when a message meets the fault %s',
    async (kind) => {
      const open = await openScene();
      const { double } = open;
      const ann = double.addPerson();
      double.fault({ kind });
      await double.say({ chat: ann.id, text: 'first' });
      await double.say({ chat: ann.id, text: 'second' });
      await arrived(open, ['first', 'second']);
    },
  );

  it('loses nothing when a message is delivered again over a new connection, without a retry request', async () => {
    const open = await openScene();
    const { double } = open;
    double.fault({ kind: 'drop-after' });
    await double.say({ chat: double.addPerson().id, text: 'first' });
    await arrived(open, ['first']);
    expect(double.stanzas('receipt').filter(({ attrs }) => attrs.type === 'retry')).toEqual([]);
  });

  it('loses nothing when a group message with its sender key is delivered again over a new connection', async () => {
    const open = await openScene();
    const { double } = open;
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    double.fault({ kind: 'drop-after' });
    await double.say({ chat: group.jid, from: ann.id, text: 'first' });
    await double.say({ chat: group.jid, from: ann.id, text: 'second' });
    await arrived(open, ['first', 'second']);
  });

  it('loses nothing when the message cannot be stored for a while', async () => {
    let failures = 3;
    const receive = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk full');
      return accepted;
    };
    const open = await openScene({ receive });
    const ann = open.double.addPerson();
    await open.double.say({ chat: ann.id, text: 'first' });
    await open.double.say({ chat: ann.id, text: 'second' });
    await arrived(open, ['first', 'second']);
    expect(open.states).toContainEqual(
      expect.objectContaining({ kind: 'retrying', reason: expect.stringContaining('disk full') }),
    );
  });

  it('loses nothing when the session that decrypted the message cannot be stored for a while', async () => {
    let failures = 0;
    const values = createInMemoryAdapterValues();
    const failing = {
      ...values,
      set: async (changes: readonly AdapterValue[]) => {
        const isSession = changes.some(({ kind }) => kind === 'session');
        if (isSession && failures++ < 5) throw new Error('disk full');
        await values.set(changes);
      },
    };
    const open = await openScene({ values: failing });
    const ann = open.double.addPerson();
    await open.double.say({ chat: ann.id, text: 'first' });
    await open.double.waitFor(() => failures > 5);
    await open.double.say({ chat: ann.id, text: 'second' });
    await arrived(open, ['first', 'second']);
  });

  it.each(['session', 'lid-mapping'])(
    'loses nothing when its %s cannot be read for a while',
    async (kind) => {
      const values = unreadable(kind);
      const open = await openScene({ values });
      const ann = open.double.addPerson({ addressing: 'lid' });
      await open.double.say({ chat: ann.id, text: 'first' });
      await arrived(open, ['first']);
      await open.adapter.stop();
      for (const text of ['second', 'third']) await open.double.say({ chat: ann.id, text });
      // A new process has an empty cache.
      values.failNext(5);
      await open.again();
      await arrived(open, ['first', 'second', 'third']);
    },
  );

  it('[D04] loses nothing when a phone requests an answer again that cannot be read for a while', async () => {
    const values = unreadable('sent');
    const { double, adapter } = await openScene({ values });
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'question' });
    await adapter.send(createPart(ann.id, 'first'), noSignal());
    double.loseSessions(ann.id);
    values.failNext(2);
    // A new connection has an empty cache.
    double.fault({ kind: 'cut' });
    await adapter.send(createPart(ann.id, 'second'), noSignal());
    const answers = () => double.conversation(ann.id).filter(({ from }) => from === 'bot');
    await double.waitFor(() => answers().length === 2);
    expect(answers().map(({ text }) => text)).toEqual(['first', 'second']);
  });

  it('loses nothing when the adapter stops while a message is being stored', async () => {
    let arrivedAtCore: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      arrivedAtCore = resolve;
    });
    let isFirst = true;
    let crash: (reason: Error) => void = () => {};
    const receive = async () => {
      if (!isFirst) return accepted;
      isFirst = false;
      arrivedAtCore();
      return new Promise<never>((_, reject) => {
        crash = reject;
      });
    };
    const open = await openScene({ receive });
    const ann = open.double.addPerson();
    await open.double.say({ chat: ann.id, text: 'first' });
    await started;
    const stopped = open.adapter.stop();
    crash(new Error('the process ends'));
    await stopped;
    await open.again();
    await arrived(open, ['first']);
  });

  it('loses nothing when the process ends between storing a message and storing its session', async () => {
    const values = createInMemoryAdapterValues();
    let isDead = false;
    let deaths = 0;
    const receive = async () => {
      isDead = deaths === 0;
      deaths += 1;
      return accepted;
    };
    const dying = {
      ...values,
      set: async (changes: readonly AdapterValue[]) => {
        if (isDead) throw new Error('the process ends');
        await values.set(changes);
      },
    };
    const open = await openScene({ values: dying, receive });
    const ann = open.double.addPerson();
    await open.double.say({ chat: ann.id, text: 'first' });
    await open.double.waitFor(() => isDead);
    await open.adapter.stop();
    isDead = false;
    await open.again();
    await open.connected(2);
    await arrived(open, ['first']);
    await open.double.say({ chat: ann.id, text: 'second' });
    await arrived(open, ['first', 'second']);
  });

  it('loses nothing when the process restarts after a message was stored but not confirmed', async () => {
    const open = await openScene();
    const { double, adapter } = open;
    const ann = double.addPerson();
    double.fault({ kind: 'drop-after' });
    await double.say({ chat: ann.id, text: 'first' });
    await adapter.stop();
    await open.again();
    await double.say({ chat: ann.id, text: 'second' });
    await arrived(open, ['first', 'second']);
  });

  it('[D02] loses nothing when somebody writes while waiting messages are admitted, which come first', async () => {
    const receive = async () => {
      await sleep(20);
      return accepted;
    };
    const open = await openScene({ receive });
    const { double, adapter, texts } = open;
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'first' });
    await arrived(open, ['first']);
    await adapter.stop();
    const waited = Array.from({ length: 20 }, (_, nth) => `waited ${nth}`);
    for (const text of waited) await double.say({ chat: ann.id, text });
    await open.again();
    await double.waitFor(() => texts().length > 1);
    await double.say({ chat: ann.id, text: 'new' });
    await arrived(open, ['first', ...waited, 'new']);
  });

  it('[D04] loses nothing when the process ends after sending, because the session that encrypted the message is stored first', async () => {
    const values = createInMemoryAdapterValues();
    let isDead = false;
    const dying = {
      ...values,
      set: async (changes: readonly AdapterValue[]) => {
        if (isDead && changes.some(({ kind }) => kind === 'session')) throw new Error('it ends');
        await values.set(changes);
      },
    };
    const open = await openScene({ values: dying });
    const { double, adapter } = open;
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'first' });
    await arrived(open, ['first']);
    isDead = true;
    const failure = await readFailure(adapter.send(createPart(ann.id, 'answer'), noSignal()));
    expect(failure.kind).toBe('transient');
    expect(double.sends()).toEqual([]);
  });

  it('[D04] loses nothing when the adapter answers while waiting messages are admitted, and every phone can decrypt the answer', async () => {
    const sends: Promise<unknown>[] = [];
    let adapter: ChannelAdapter | undefined;
    const receive: WhatsAppSceneOptions['receive'] = async ({ chat, messageId }) => {
      const answer = createPart(chat.id, 'answer', { key: messageId });
      // The connection may not be open yet.
      sends.push(adapter?.send(answer, noSignal()).catch(() => undefined) ?? Promise.resolve());
      await sleep(5);
      return accepted;
    };
    const open = await openScene({ receive });
    const { double } = open;
    adapter = open.adapter;
    const settled = async () => {
      await double.waitFor(() => double.waiting().length === 0);
      await Promise.all(sends);
    };
    const people = [double.addPerson(), double.addPerson({ addressing: 'lid' })];
    for (const { id } of people) await double.say({ chat: id, text: 'first' });
    await double.waitFor(() => sends.length === people.length);
    await settled();
    await adapter.stop();
    for (let nth = 0; nth < 10; nth += 1)
      for (const { id } of people) await double.say({ chat: id, text: `waited ${nth}` });
    adapter = await open.again();
    await settled();
    expect(double.sends().length).toBeGreaterThan(10);
    expect(double.sends().flatMap(({ unreadable }) => unreadable)).toEqual([]);
  });
});
