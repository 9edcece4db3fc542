import { type Attachment, ChannelError, recordingLogger } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { startSweep } from '@parley/queue';
import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FilesFacet } from '../adapter.ts';
import { conversationIdOf, routeOf } from '../ingress/route.ts';
import { aMessage } from '../testing/ingress-scene.ts';
import { type AttachmentFetcher, startAttachmentFetcher } from './attachment-fetcher.ts';

const transient = () => new ChannelError({ kind: 'transient' }, 'the line is bad');

let now: number;
let store: Store;
let fetcher: AttachmentFetcher | undefined;
let kicked: string[];
let fetched: string[];
let lines: string[];
beforeEach(async () => {
  now = 0;
  [kicked, fetched] = [[], []];
  store = await openStore({ url: 'sqlite::memory:', clock: () => now });
});
afterEach(async () => {
  await fetcher?.close();
  fetcher = undefined;
  await store.close();
});

async function send(id: string, attachments: Attachment[]): Promise<void> {
  const message = aMessage({ messageId: id, text: '', attachments });
  const route = routeOf(message, CAPABILITIES, { mentions: 'dead', numbered: false });
  const conversationId = conversationIdOf(message);
  await store.inbox.accept({ conversationId, message, route, receivedAt: now });
  fetcher?.wake();
}

function start(
  fetch: FilesFacet['fetch'] | undefined,
  { sweepMs = 60_000, timeoutMs = 60_000 } = {},
) {
  const recording = recordingLogger();
  lines = recording.lines;
  const noted: FilesFacet['fetch'] = (ref, limit, signal) => {
    fetched.push(ref);
    return fetch?.(ref, limit, signal) ?? Promise.reject(new Error('no fetch'));
  };
  fetcher = startAttachmentFetcher(
    {
      attachments: store.attachments,
      files: fetch === undefined ? undefined : { maxBytes: 100, fetch: noted },
      lanes: { kick: async (id) => void kicked.push(id) },
      limits: { fileBytes: 10, messageBytes: 15, keptBytes: 25 },
      clock: () => now,
      log: recording.log,
    },
    {
      channel: 'telegram',
      account: 'default',
      sweep: (task) => startSweep('test', sweepMs, recording.log, task),
      timeoutMs,
    },
  );
}

/** The first message of these tests has the number 1. */
const states = async (seq = 1) =>
  (await store.attachments.ofMessages([seq])).map(({ state, reason }) => reason ?? state);
const image = (ref: string, size?: number): Attachment => ({
  kind: 'image',
  ref,
  ...(size === undefined ? {} : { size }),
});

describe('fetching attachments', () => {
  it('[F10] stores what was sent and wakes the lane', async () => {
    start(async (ref) => Buffer.from(ref));
    await send('1', [image('cat')]);
    await expect.poll(() => kicked).toEqual(['telegram:default:42']);
    const bytes = await store.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(Buffer.from(bytes ?? []).toString()).toBe('cat');
  });

  it('[F10] [D01] takes up after a restart what an earlier run has left', async () => {
    await send('1', [image('cat')]);
    start(async () => Uint8Array.of(1));
    await expect.poll(() => states()).toEqual(['ready']);
  });

  it('[F10] fetches the files of one message one after another, within what they may have together', async () => {
    let atOnce = 0;
    start(async (_ref, limit) => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise(setImmediate);
      atOnce -= 1;
      return new Uint8Array(Math.min(limit, 9));
    });
    await send('1', [image('a'), image('b'), image('c'), image('d', 11)]);
    await expect.poll(() => kicked.length).toBe(4);
    const full = expect.stringContaining('together');
    expect(await states()).toEqual(['ready', 'ready', full, full]);
    expect(fetched).toEqual(['a', 'b']);
  });

  it('[F10] refuses more than was asked for, however it came', async () => {
    start(async () => new Uint8Array(11));
    await send('1', [image('a')]);
    await expect.poll(() => states()).toEqual([expect.stringContaining('larger than the')]);
  });

  it('[F10] tries again when it is time, and gives up in the end', async () => {
    start(() => Promise.reject(transient()), { sweepMs: 5 });
    await send('1', [image('a')]);
    for (const [tries, pause] of [2_000, 6_000, 20_000].entries()) {
      await expect.poll(() => fetched.length).toBe(tries + 1);
      await expect.poll(() => lines.length).toBe(tries + 1);
      expect(kicked).toEqual([]);
      now += pause;
    }
    await expect.poll(() => kicked.length).toBe(1);
    expect(await states()).toEqual(['it could not be fetched']);
    expect(lines.join()).toContain('the line is bad');
  });

  it('[F10] lets one that hangs hold up nobody else, and ends it', async () => {
    start((ref) => (ref === 'slow' ? new Promise(() => {}) : Promise.resolve(Uint8Array.of(1))), {
      timeoutMs: 300,
    });
    await send('1', [image('slow')]);
    await send('2', [image('fast')]);
    await expect.poll(() => states(2)).toEqual(['ready']);
    await expect.poll(() => lines.join()).toContain('took too long');
  });

  it('[F10] counts no try that ends because Parley does', async () => {
    start((_ref, _limit, signal) => {
      const { promise, reject } = Promise.withResolvers<Uint8Array>();
      signal.addEventListener('abort', () => reject(transient()));
      return promise;
    });
    await send('1', [image('a')]);
    await expect.poll(() => fetched).toEqual(['a']);
    await fetcher?.close();
    expect(await store.attachments.due('telegram', 'default', 0, 1)).toMatchObject([
      { attempts: 0 },
    ]);
  });

  it('[F10] [D07] drops files of answered messages to make room, and refuses when there is none', async () => {
    start(async () => new Uint8Array(9));
    await send('1', [image('a')]);
    await expect.poll(() => states(1)).toEqual(['ready']);
    const place = { channel: 'telegram', account: 'default', chatId: '42' };
    await store.inbox.revise({ ...place, messageId: '1' }, null);
    now = 1;
    await send('2', [image('b')]);
    await expect.poll(() => states(2)).toEqual(['ready']);
    await send('3', [image('c')]);
    await expect.poll(() => states(3)).toEqual(['ready']);
    expect(await store.attachments.bytes({ messageSeq: 1, index: 0 })).toBeNull();
    await send('4', [image('d')]);
    await expect.poll(() => states(4)).toEqual([expect.stringContaining('no room')]);
  });

  it('[F10] says so where a channel provides no files', async () => {
    start(undefined);
    await send('1', [image('a')]);
    await expect.poll(() => states()).toEqual(['I cannot fetch files from this channel']);
    expect(kicked).toHaveLength(1);
  });
});
