import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const bytes = (...values: number[]) => Uint8Array.from(values);
const JPEG = bytes(0xff, 0xd8, 0xff, 1, 2, 3);

afterEach(endScenes);

describe('files that people send', () => {
  it('[F10] arrive with their text, and their bytes can be downloaded', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.say({ chat: ANN, text: 'what is it?', file: { kind: 'photo', bytes: JPEG } });
    double.say({ chat: ANN, file: { kind: 'voice', bytes: bytes(7), type: 'audio/ogg' } });
    await adapter.start();
    await double.waitFor(() => received.length === 2);
    expect(received).toMatchObject([
      { text: 'what is it?', attachments: [{ kind: 'image', size: 6 }] },
      { text: '', attachments: [{ kind: 'voice', mimeType: 'audio/ogg', size: 1 }] },
    ]);
    const refs = received.map(({ attachments }) => attachments?.[0]?.ref ?? '');
    const fetched = refs.map((ref) => adapter.files?.fetch(ref, 100, noSignal()));
    expect((await Promise.all(fetched)).map((file) => [...(file ?? [])])).toEqual([[...JPEG], [7]]);
  });

  it('[F08] include the album they belong to', async () => {
    const { double, adapter, received } = await startTelegramScene();
    const file = { kind: 'photo', bytes: JPEG } as const;
    double.say({ chat: ANN, album: '77', text: 'two', file });
    double.say({ chat: ANN, album: '77', file });
    await adapter.start();
    await double.waitFor(() => received.length === 2);
    expect(received.map(({ albumId }) => albumId)).toEqual(['77', '77']);
  });

  /** A document sent by a person, and the call that downloads it. */
  async function sentDocument(size: number, claimedSize?: number) {
    const wishes = await startTelegramScene();
    const { double, adapter, received } = wishes;
    const file = { kind: 'document', bytes: new Uint8Array(size), claimedSize } as const;
    double.say({ chat: ANN, file });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    const ref = received[0]?.attachments?.[0]?.ref ?? '';
    const get = async (limit: number, signal = noSignal()) =>
      adapter.files?.fetch(ref, limit, signal);
    return { ...wishes, get };
  }

  it('[F10] are read only up to the limit, whatever size was declared', async () => {
    const { get } = await sentDocument(300_000, 10);
    expect(await get(300_000)).toHaveLength(300_000);
    expect(await readFailure(get(299_999))).toEqual({ kind: 'refused' });
  });

  it("[F10] are refused above Telegram's download limit", async () => {
    const { get, adapter } = await sentDocument(1, 21 * 1024 * 1024);
    expect(adapter.files?.maxBytes).toBe(20 * 1024 * 1024);
    await expect(get(100)).rejects.toThrow('it is larger than 20 MB');
    expect(await readFailure(get(100))).toEqual({ kind: 'refused' });
  });

  const flood = { retry_after: 4 };
  it.each<[string, (double: TelegramDouble) => void, object]>([
    [
      'a URL that leads nowhere',
      (d) => d.fault({ kind: 'status', status: 404, method: 'download' }),
      { kind: 'refused' },
    ],
    [
      'a server in trouble',
      (d) => d.fault({ kind: 'status', status: 502, method: 'download' }),
      { kind: 'transient' },
    ],
    [
      'a connection that breaks',
      (d) => d.fault({ kind: 'reset', method: 'download' }),
      { kind: 'transient' },
    ],
    [
      'a lost answer to getFile',
      (d) => d.fault({ kind: 'reset', method: 'getFile' }),
      { kind: 'transient' },
    ],
    [
      'too many calls',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 429,
          description: 'slow',
          parameters: flood,
          method: 'getFile',
        }),
      { kind: 'rate-limited', retryAfterMs: 4_000, scope: 'chat' },
    ],
    [
      'a file that no longer exists',
      (d) =>
        d.fault({ kind: 'refuse', code: 400, description: 'wrong file_id', method: 'getFile' }),
      { kind: 'refused' },
    ],
  ])(
    '[F10] report the failure of %s, without the token in the reason',
    async (_name, arrange, failure) => {
      const { double, get } = await sentDocument(5);
      arrange(double);
      const error = await get(100).catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ failure });
      expect(String(error)).not.toContain(double.token);
      expect(await get(100)).toHaveLength(5);
    },
  );

  it('[F10] are not waited for longer than the caller allows', async () => {
    const { double, get } = await sentDocument(5);
    double.fault({ kind: 'hang', method: 'download' });
    expect(await readFailure(get(100, AbortSignal.timeout(50)))).toEqual({ kind: 'transient' });
  });
});

describe('files on a Bot API server in local mode', () => {
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
  });

  /**
   * A large file sent by a person, and the call that downloads it; `servesFiles` means over http
   * instead of from disk.
   */
  async function sentLocally({ servesFiles = false } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'bot-api-'));
    folders.push(folder);
    const made = await startTelegramScene({
      double: { localServer: { folder, servesFiles } },
      settings: () => ({ localServer: true, ...(!servesFiles && { localFiles: folder }) }),
    });
    const { double, adapter, received } = made;
    const large = {
      kind: 'document',
      bytes: bytes(1, 2, 3),
      claimedSize: 30 * 1024 * 1024,
    } as const;
    double.say({ chat: ANN, file: large });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    const ref = received[0]?.attachments?.[0]?.ref ?? '';
    const get = async (limit = 100) => adapter.files?.fetch(ref, limit, noSignal());
    return { ...made, get };
  }

  it("[F10] are read from the server's directory, even above Telegram's download limit", async () => {
    const { get, adapter } = await sentLocally();
    expect(adapter.files?.maxBytes).toBe(2_000 * 1024 * 1024);
    expect([...((await get()) ?? [])]).toEqual([1, 2, 3]);
    expect(await readFailure(get(2))).toEqual({ kind: 'refused' });
  });

  it('[F10] are downloaded over http when no directory is set', async () => {
    const { get } = await sentLocally({ servesFiles: true });
    expect([...((await get()) ?? [])]).toEqual([1, 2, 3]);
  });
});
