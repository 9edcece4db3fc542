import {
  type CommittedParts,
  type LiveEvent,
  type OutboundPart,
  silentLogger,
  silentMeter,
  systemTime,
} from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { createLocalBus, startSweep } from '@parley/queue';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryScene, openDeliveryScene } from '../testing/delivery-scene.ts';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';

let scene: DeliveryScene;
const bus = createLocalBus(silentLogger);
const workers: DeliveryWorker[] = [];
beforeEach(async () => {
  scene = await openDeliveryScene(Date.now);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close(100)));
  await scene.store.close();
});

function startWorker(
  send = scene.send,
  sweepMs = 20,
  change: Partial<Parameters<typeof startDeliveryWorker>[0]> = {},
): DeliveryWorker {
  const deps = {
    outbox: scene.store.outbox,
    capabilities: CAPABILITIES,
    send,
    log: silentLogger,
    meter: silentMeter,
    ...systemTime,
    random: () => 0,
    checkpoint: () => {},
    ...change,
  };
  const place = { channel: 'test', account: 'default', concurrency: 10 };
  const worker = startDeliveryWorker(deps, {
    ...place,
    bus,
    sweep: (task) => startSweep('test', sweepMs, silentLogger, task),
  });
  workers.push(worker);
  return worker;
}

const wake = (chatId: string, account = 'default', fresh?: CommittedParts) =>
  bus.publish({ type: 'delivery-due', channel: 'test', account, chatId, fresh });
const seen = (chatId: string) => scene.visible.get(chatId) ?? [];

describe('an account’s deliveries', () => {
  it('[D04] first send the parts left by an earlier process', async () => {
    await scene.owe('left', ['one', 'two']);
    startWorker(scene.send, 60_000);
    await expect.poll(() => seen('left')).toEqual(['one', 'two']);
  });

  it('[D04] find parts whose wake-up was lost', async () => {
    startWorker();
    await scene.owe('lost', ['one']);
    await expect.poll(() => seen('lost')).toEqual(['one']);
  });

  it('[D05] delay only the chat that the platform limits', async () => {
    scene.answer('slow', { kind: 'rate-limited', retryAfterMs: 400, scope: 'chat' });
    await scene.owe('slow', ['one', 'two']);
    for (const chat of ['a', 'b', 'c']) await scene.owe(chat, ['one']);
    startWorker();
    await expect.poll(() => ['a', 'b', 'c'].map(seen)).toEqual([['one'], ['one'], ['one']]);
    expect(seen('slow')).toEqual([]);
    await expect.poll(() => seen('slow')).toEqual(['one', 'two']);
  });

  it('[D04] keep the order within each chat when many chats are woken repeatedly', async () => {
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      return scene.send(part, signal);
    };
    startWorker(send);
    const chats = Array.from({ length: 8 }, (_, index) => `chat-${index}`);
    const texts = Array.from({ length: 10 }, (_, index) => `part ${index}`);
    for (const text of texts) {
      for (const chat of chats) {
        await scene.owe(chat, [text]);
        wake(chat);
      }
    }
    await expect.poll(() => chats.map(seen)).toEqual(chats.map(() => texts));
  });

  it('[D11] wait for a send in progress and do not lose any due part', async () => {
    let started = false;
    const slow = async (part: OutboundPart, signal: AbortSignal) => {
      started = true;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return scene.send(part, signal);
    };
    const worker = startWorker(slow);
    await scene.owe('closing', ['one']);
    await expect.poll(() => started, { interval: 2 }).toBe(true);
    await worker.close(5_000);
    expect(await scene.states('closing')).toEqual(['sent']);
  });

  it('[D11] send due parts that are not picked up yet at shutdown, unless the platform requests a pause', async () => {
    const worker = startWorker(scene.send, 60_000);
    await scene.owe('fresh', ['one']);
    scene.answer('limited', { kind: 'rate-limited', retryAfterMs: 60_000, scope: 'chat' });
    await scene.owe('limited', ['one']);
    wake('fresh');
    wake('limited');
    await worker.close(5_000);
    expect(await scene.states('fresh')).toEqual(['sent']);
    expect(await scene.states('limited')).toEqual(['pending']);
  });

  it('[D04] serve a chat one call at a time, however often it is woken during a send', async () => {
    await scene.owe('twice', ['one', 'two']);
    let [atOnce, most] = [0, 0];
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      for (let i = 0; i < 3; i += 1) wake('twice');
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      return scene.send(part, signal);
    };
    startWorker(send, 60_000);
    await expect.poll(() => seen('twice')).toEqual(['one', 'two']);
    expect(most).toBe(1);
  });

  it('[D04] send the parts named by a wake-up, and leave other accounts to their gateways', async () => {
    startWorker(scene.send, 60_000);
    await expect.poll(() => seen('first')).toEqual([]);
    await scene.owe('mine', ['one']);
    await scene.owe('theirs', ['one']);
    wake('theirs', 'other');
    wake('mine');
    await expect.poll(() => seen('mine')).toEqual(['one']);
    expect(seen('theirs')).toEqual([]);
  });

  it('[D16] send the parts passed on by a commit without reading them again', async () => {
    const { outbox } = scene.store;
    let reads = 0;
    const unfinished: typeof outbox.unfinished = (...chat) => {
      reads += 1;
      return outbox.unfinished(...chat);
    };
    startWorker(scene.send, 60_000, { outbox: { ...outbox, unfinished } });
    wake('handed', 'default', await scene.owe('handed', ['one', 'two']));
    await expect.poll(() => scene.states('handed')).toEqual(['sent', 'sent']);
    expect(seen('handed')).toEqual(['one', 'two']);
    expect(reads).toBe(0);
  });

  it('[D04] first send an earlier part whose wake-up was lost', async () => {
    startWorker(scene.send, 60_000);
    await expect.poll(() => scene.sends).toEqual([]);
    await scene.owe('earlier', ['one']);
    wake('earlier', 'default', await scene.owe('earlier', ['two', 'three']));
    await expect.poll(() => seen('earlier')).toEqual(['one', 'two', 'three']);
  });

  it('[D04] send all answers that are passed on while a message part is being sent', async () => {
    let started = false;
    const slow = async (part: OutboundPart, signal: AbortSignal) => {
      started = true;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return scene.send(part, signal);
    };
    startWorker(slow, 60_000);
    wake('busy', 'default', await scene.owe('busy', ['one']));
    await expect.poll(() => started, { interval: 2 }).toBe(true);
    for (const text of ['two', 'three', 'four'])
      wake('busy', 'default', await scene.owe('busy', [text]));
    await expect.poll(() => seen('busy')).toEqual(['one', 'two', 'three', 'four']);
  });

  it('[U12] refresh the pages of their own gateway once the outcome of a delivery is stored', async () => {
    const events: LiveEvent[] = [];
    const stored: Promise<readonly string[]>[] = [];
    const unsubscribe = bus.subscribe((event) => {
      if (event.type !== 'inbox-changed') return;
      events.push(event);
      stored.push(scene.states('watched'));
    });
    startWorker(scene.send, 60_000);
    scene.answer('watched', { kind: 'sent' }, { kind: 'gone' });
    for (const text of ['arrives', 'fails']) {
      wake('watched', 'default', await scene.owe('watched', [text]));
      await expect
        .poll(async () => (await scene.states('watched')).includes('pending'))
        .toBe(false);
    }
    await expect.poll(() => events.length).toBe(2);
    unsubscribe();
    const local: LiveEvent = { type: 'inbox-changed', isLocal: true };
    expect(events).toEqual([local, local]);
    expect(await Promise.all(stored)).toEqual([['sent'], ['sent', 'failed']]);
  });

  it('[D09] send each message part once when two gateways serve the account and both are woken', async () => {
    const slow = async (part: OutboundPart, signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return scene.send(part, signal);
    };
    for (let i = 0; i < 2; i += 1) startWorker(slow, 60_000, { othersSend: true });
    const texts = ['one', 'two', 'three'];
    await scene.owe('both', texts);
    wake('both');
    await expect.poll(() => scene.states('both')).toEqual(texts.map(() => 'sent'));
    expect(scene.sends).toEqual(texts.map((text) => `both: ${text}`));
  });

  it("[D04] [D09] send the part that a crashed gateway was sending, after that gateway's time limit", async () => {
    await scene.owe('left', ['one']);
    const { outbox } = scene.store;
    const next = await outbox.next({ channel: 'test', account: 'default', chatId: 'left' });
    await outbox.markSending(next?.part.id ?? '', Date.now() - 4_800);
    startWorker(scene.send, 60_000, {
      othersSend: true,
      capabilities: { ...CAPABILITIES, idempotentSend: true },
    });
    await expect.poll(() => seen('left'), { timeout: 5_000 }).toEqual(['one']);
  });
});
