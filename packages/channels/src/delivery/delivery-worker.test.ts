import { type OutboundPart, silentLogger, silentMeter } from '@parley/contracts';
import { openQueues, type Queues, type WakeUpHandler, type WakeUpQueue } from '@parley/queue';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../testing/capabilities.ts';
import { type DeliveryScene, openDeliveryScene } from '../testing/delivery-scene.ts';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';

let scene: DeliveryScene;
let queues: Queues;
const workers: DeliveryWorker[] = [];
beforeEach(async () => {
  scene = await openDeliveryScene(Date.now);
  queues = await openQueues({ url: 'memory:', log: silentLogger });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close(100)));
  await queues.close();
  await scene.store.close();
});

async function startWorker(
  send = scene.send,
  sweepMs = 20,
  queue = queues.deliveries('test', 'default'),
): Promise<DeliveryWorker> {
  const deps = {
    outbox: scene.store.outbox,
    capabilities: CAPABILITIES,
    send,
    log: silentLogger,
    meter: silentMeter,
    clock: Date.now,
    random: () => 0,
    pass: () => {},
  };
  const place = { channel: 'test', account: 'default', concurrency: 10 };
  const worker = await startDeliveryWorker(deps, { ...place, queue, sweepMs });
  workers.push(worker);
  return worker;
}

const seen = (chatId: string) => scene.visible.get(chatId) ?? [];

describe('the deliveries of an account', () => {
  it('[D04] send at the start what an earlier process left behind', async () => {
    await scene.owe('left', ['one', 'two']);
    await startWorker(scene.send, 60_000);
    await expect.poll(() => seen('left')).toEqual(['one', 'two']);
  });

  it('[D04] find parts whose wake-up was lost', async () => {
    await startWorker();
    await scene.owe('lost', ['one']);
    await expect.poll(() => seen('lost')).toEqual(['one']);
  });

  it('[D05] hold up one chat that the platform limits, and no other', async () => {
    scene.answer('slow', { kind: 'rate-limited', retryAfterMs: 400, scope: 'chat' });
    await scene.owe('slow', ['one', 'two']);
    for (const chat of ['a', 'b', 'c']) await scene.owe(chat, ['one']);
    await startWorker();
    await expect.poll(() => ['a', 'b', 'c'].map(seen)).toEqual([['one'], ['one'], ['one']]);
    expect(seen('slow')).toEqual([]);
    await expect.poll(() => seen('slow')).toEqual(['one', 'two']);
  });

  it('[D04] keep the order of each chat when many are woken over and over', async () => {
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      return scene.send(part, signal);
    };
    await startWorker(send);
    const chats = Array.from({ length: 8 }, (_, index) => `chat-${index}`);
    const texts = Array.from({ length: 10 }, (_, index) => `part ${index}`);
    for (const text of texts) {
      for (const chat of chats) {
        await scene.owe(chat, [text]);
        await queues.deliveries('test', 'default').kick(chat);
      }
    }
    await expect.poll(() => chats.map(seen)).toEqual(chats.map(() => texts));
  });

  it('[D11] wait for a send that is under way and lose nothing that is still owed', async () => {
    let begun = false;
    const slow = async (part: OutboundPart, signal: AbortSignal) => {
      begun = true;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return scene.send(part, signal);
    };
    const worker = await startWorker(slow);
    await scene.owe('closing', ['one']);
    await expect.poll(() => begun, { interval: 2 }).toBe(true);
    await worker.close(5_000);
    expect(await scene.states('closing')).toEqual(['sent']);
  });

  it('[D11] send at the end what is due but not taken up yet, unless the platform asks to wait', async () => {
    const worker = await startWorker(scene.send, 60_000);
    await scene.owe('fresh', ['one']);
    scene.answer('limited', { kind: 'rate-limited', retryAfterMs: 60_000, scope: 'chat' });
    await scene.owe('limited', ['one']);
    const queue = queues.deliveries('test', 'default');
    await Promise.all([queue.kick('fresh'), queue.kick('limited')]);
    await worker.close(5_000);
    expect(await scene.states('fresh')).toEqual(['sent']);
    expect(await scene.states('limited')).toEqual(['pending']);
  });

  it('[D04] serve a chat once at a time, even when one wake-up is handed out twice', async () => {
    let handler: WakeUpHandler = async () => null;
    const queue: WakeUpQueue = {
      kick: async () => {},
      rekick: async () => {},
      async work(given) {
        handler = given;
        return { pause() {}, resume() {}, close: async () => {} };
      },
      depth: async () => ({ waiting: 0, active: 0, delayed: 0 }),
      close: async () => {},
    };
    await scene.owe('twice', ['one']);
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      expect(await handler('twice', signal)).toBeGreaterThan(0);
      return scene.send(part, signal);
    };
    await startWorker(send, 60_000, queue);
    expect(await handler('twice', new AbortController().signal)).toBeNull();
    expect(await scene.states('twice')).toEqual(['sent']);
  });
});
