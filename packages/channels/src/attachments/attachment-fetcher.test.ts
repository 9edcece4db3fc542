import { type Attachment, ChannelError } from '@parley/core';
import { CAPABILITIES, createRecordingLogger } from '@parley/core/testing';
import { startSweep } from '@parley/queue';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FilesCapability } from '../adapter.ts';
import { resolveReplyRoute, toConversationId } from '../ingress/route.ts';
import { createMessage } from '../testing/ingress-scene.ts';
import { type AttachmentFetcher, startAttachmentFetcher } from './attachment-fetcher.ts';
import type { MediaLimits } from './fetch-plan.ts';

const transient = () => new ChannelError({ kind: 'transient' }, 'the line is bad');

/** Limits that tests with one person never reach. */
const LIMITS: MediaLimits = {
  fileBytes: 10,
  messageBytes: 15,
  keptBytes: 25,
  personFiles: 99,
  personBytes: 1_000,
};

let now: number;
let store: Store;
let fetcher: AttachmentFetcher | undefined;
let woken: string[];
let fetched: string[];
let lines: string[];
beforeEach(async () => {
  now = 0;
  [woken, fetched] = [[], []];
  store = await openMemoryStore({ clock: () => now });
});
afterEach(async () => {
  await fetcher?.close();
  fetcher = undefined;
  await store.close();
});

/** By default, all messages are from one person in one chat. */
async function send(
  id: string,
  attachments: Attachment[],
  { person = '42', fromOwner = false } = {},
): Promise<void> {
  const chat = { id: person, type: 'direct' } as const;
  const sender = { id: person, name: person, isBot: false };
  const message = createMessage({ messageId: id, text: '', attachments, chat, sender });
  const route = resolveReplyRoute(message, CAPABILITIES, { mentions: 'dead', numbered: false });
  const conversationId = toConversationId(message);
  await store.inbox.accept({ conversationId, message, route, receivedAt: now, fromOwner });
  fetcher?.wake();
}

function start(
  fetch: FilesCapability['fetch'] | undefined,
  {
    sweepMs = 60_000,
    timeoutMs = 60_000,
    limits = {},
  }: { sweepMs?: number; timeoutMs?: number; limits?: Partial<MediaLimits> } = {},
) {
  const recording = createRecordingLogger();
  lines = recording.lines;
  const noted: FilesCapability['fetch'] = (ref, limit, signal) => {
    fetched.push(ref);
    return fetch?.(ref, limit, signal) ?? Promise.reject(new Error('no fetch'));
  };
  fetcher = startAttachmentFetcher(
    {
      attachments: store.attachments,
      files: fetch === undefined ? undefined : { maxBytes: 100, fetch: noted },
      lanes: { wake: async (id) => void woken.push(id) },
      limits: { ...LIMITS, ...limits },
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

/** The first message of these tests has the sequence number 1. */
const states = async (seq = 1) =>
  (await store.attachments.ofMessages([seq])).map(({ state, reason }) => reason ?? state);
const image = (ref: string, size?: number): Attachment => ({
  kind: 'image',
  ref,
  ...(size === undefined ? {} : { size }),
});

describe('fetching attachments', () => {
  it('[F10] stores files that people sent and wakes the lane', async () => {
    start(async (ref) => Buffer.from(ref));
    await send('1', [image('cat')]);
    await expect.poll(() => woken).toEqual(['telegram:default:42']);
    const bytes = await store.attachments.bytes({ messageSeq: 1, index: 0 });
    expect(Buffer.from(bytes ?? []).toString()).toBe('cat');
  });

  it("[F10] [D01] resumes an earlier run's fetches after a restart", async () => {
    await send('1', [image('cat')]);
    start(async () => Uint8Array.of(1));
    await expect.poll(() => states()).toEqual(['ready']);
  });

  it("[F10] fetches the files of one message one after another, within the message's size limit", async () => {
    let atOnce = 0;
    start(async (_ref, limit) => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise(setImmediate);
      atOnce -= 1;
      return new Uint8Array(Math.min(limit, 9));
    });
    await send('1', [image('a'), image('b'), image('c'), image('d', 11)]);
    await expect.poll(() => woken.length).toBe(4);
    const full = expect.stringContaining('together');
    expect(await states()).toEqual(['ready', 'ready', full, full]);
    expect(fetched).toEqual(['a', 'b']);
  });

  it('[F10] refuses more bytes than were requested, whether streamed or sent at once', async () => {
    start(async () => new Uint8Array(11));
    await send('1', [image('a')]);
    await expect.poll(() => states()).toEqual([expect.stringContaining('larger than the')]);
  });

  it('[F10] retries after the delay, and eventually gives up', async () => {
    start(() => Promise.reject(transient()), { sweepMs: 5 });
    await send('1', [image('a')]);
    for (const [tries, pause] of [2_000, 6_000, 20_000].entries()) {
      await expect.poll(() => fetched.length).toBe(tries + 1);
      await expect.poll(() => lines.length).toBe(tries + 1);
      expect(woken).toEqual([]);
      now += pause;
    }
    await expect.poll(() => woken.length).toBe(1);
    expect(await states()).toEqual(['it could not be fetched']);
    expect(lines.join()).toContain('the line is bad');
  });

  it('[F10] does not let a hanging fetch delay the others, and aborts it', async () => {
    start((ref) => (ref === 'slow' ? new Promise(() => {}) : Promise.resolve(Uint8Array.of(1))), {
      timeoutMs: 300,
    });
    await send('1', [image('slow')]);
    await send('2', [image('fast')]);
    await expect.poll(() => states(2)).toEqual(['ready']);
    await expect.poll(() => lines.join()).toContain('took too long');
  });

  it('[F10] does not count an attempt that ends because Parley shuts down', async () => {
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

  it('[F10] [D07] deletes files of answered messages to free space, and refuses when that is not enough', async () => {
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

  it('[G19] alternates between people, however many files each has sent, while owners never wait', async () => {
    const held = new Map<string, () => void>();
    start((ref) => {
      const { promise, resolve } = Promise.withResolvers<Uint8Array>();
      held.set(ref, () => resolve(Uint8Array.of(1)));
      return promise;
    });
    const nowFetched = (...refs: readonly string[]) => expect.poll(() => fetched).toEqual(refs);
    const files = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `eve ${letter}`);
    for (const ref of files) await send(ref, [image(ref)], { person: 'eve' });
    await nowFetched('eve a', 'eve b');
    for (const ref of ['mallory a', 'mallory b'])
      await send(ref, [image(ref)], { person: 'mallory' });
    await nowFetched('eve a', 'eve b', 'mallory a', 'mallory b');
    for (const ref of ['ada', 'ben']) await send(ref, [image(ref)], { person: ref });
    await send('owner', [image('owner')], { person: 'owner', fromOwner: true });
    await nowFetched('eve a', 'eve b', 'mallory a', 'mallory b', 'owner');
    held.get('owner')?.();
    held.get('eve a')?.();
    await expect.poll(() => fetched.at(-1)).toBe('ada');
    held.get('eve b')?.();
    await expect.poll(() => fetched.at(-1)).toBe('ben');
    held.get('ada')?.();
    await expect.poll(() => fetched.at(-1)).toBe('eve c');
  });

  it("[D07] [G19] refuses files beyond a person's share but accepts those of others, until space is freed", async () => {
    start(async (ref) => new Uint8Array(ref.startsWith('ann') ? 7 : 9), {
      limits: { keptBytes: 1_000, personBytes: 18, personFiles: 9 },
    });
    for (const ref of ['a', 'b', 'c']) await send(ref, [image(ref, 9)], { person: 'eve' });
    await expect
      .poll(() => states(3))
      .toEqual([expect.stringContaining('more files than I accept')]);
    await send('ada', [image('ada', 9)], { person: 'ada' });
    await send(
      'ann',
      [1, 2].map((nth) => image(`ann ${nth}`, 7)),
      { person: 'ann', fromOwner: true },
    );
    await expect.poll(() => states(4)).toEqual(['ready']);
    await expect.poll(() => states(5)).toEqual(['ready', 'ready']);
    const chat = { channel: 'telegram', account: 'default', chatId: 'eve' };
    await store.inbox.revise({ ...chat, messageId: 'a' }, null);
    await send('d', [image('d', 9)], { person: 'eve' });
    await expect.poll(() => states(6)).toEqual(['ready']);
    expect(await store.attachments.bytes({ messageSeq: 1, index: 0 })).toBeNull();
    expect(await store.attachments.bytes({ messageSeq: 4, index: 0 })).not.toBeNull();
  });

  it('[F10] reports that a channel does not support files', async () => {
    start(undefined);
    await send('1', [image('a')]);
    await expect.poll(() => states()).toEqual(['I cannot fetch files from this channel']);
    expect(woken).toHaveLength(1);
  });
});
