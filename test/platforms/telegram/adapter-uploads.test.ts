import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundFile } from '@parley/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene, type TelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const bytes = (...values: number[]) => Uint8Array.from(values);
const JPEG = bytes(0xff, 0xd8, 0xff, 1, 2, 3);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-telegram-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(endScenes);

describe('files that the bot sends', () => {
  /** Writes a file to disk. */
  async function onDisk(
    kind: OutboundFile['kind'],
    mimeType: string,
    content: Uint8Array,
    name = 'a.bin',
  ) {
    const path = join(folder, `${kind}-${content.length}`);
    await writeFile(path, content);
    return { kind, name, mimeType, path } satisfies OutboundFile;
  }

  async function sceneWithAnn(): Promise<TelegramScene> {
    const made = await startTelegramScene();
    made.double.say({ chat: ANN, text: 'q' });
    return made;
  }

  it.each<[OutboundFile['kind'], string, string]>([
    ['image', 'image/jpeg', 'sendPhoto'],
    ['image', 'image/gif', 'sendAnimation'],
    ['image', 'image/svg+xml', 'sendDocument'],
    ['voice', 'audio/ogg', 'sendVoice'],
    ['voice', 'audio/wav', 'sendDocument'],
    ['audio', 'audio/mpeg', 'sendAudio'],
    ['video', 'video/mp4', 'sendVideo'],
    ['video', 'video/x-matroska', 'sendDocument'],
    ['document', 'image/jpeg', 'sendDocument'],
  ])('[F10] are sent natively: %s of type %s by %s', async (kind, type, method) => {
    const { double, adapter } = await sceneWithAnn();
    const file = await onDisk(kind, type, JPEG, 'naïve 图.bin');
    const receipt = await adapter.send(createPart(ANN, '<b>look</b>', { file }), noSignal());
    const shown = double.conversation(ANN).at(-1);
    expect(shown).toMatchObject({ text: 'look', entities: [{ type: 'bold' }] });
    expect(shown?.file?.name).toBe('naïve 图.bin');
    expect([...(shown?.file?.bytes ?? [])]).toEqual([...JPEG]);
    expect(receipt).toEqual({ platformMessageId: String(shown?.messageId) });
    expect(double.calls().map((call) => call.method)).toEqual([method]);
  });

  it('[F10] keep reply, topic and buttons, which telegraf would lose', async () => {
    const { double, adapter } = await startTelegramScene();
    const forum = -1_000_000_000_005;
    const question = double.say({ chat: forum, thread: 42, text: 'q' });
    const place = { threadId: '42', replyToMessageId: String(question.message_id) };
    const buttons = [{ label: 'More', data: '/more' }];
    const file = await onDisk('document', 'text/plain', bytes(1));
    await adapter.send(createPart(forum, 'x', { ...place, file, buttons }), noSignal());
    expect(double.conversation(forum).at(-1)).toMatchObject({
      threadId: 42,
      replyTo: question.message_id,
      buttons: ['More'],
    });
  });

  it('[F10] have names that cannot forge the header that contains them', async () => {
    const { double, adapter } = await sceneWithAnn();
    const name = 'a"; name="chat_id"\r\n\r\n999\\.txt';
    const file = await onDisk('document', 'text/plain', bytes(1), name);
    await adapter.send(createPart(ANN, '', { file }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({
      text: '',
      file: { name: 'a_; name=_chat_id_____999_.txt' },
    });
  });

  it('[F10] are sent as documents when Telegram rejects the picture', async () => {
    const { double, adapter, logged } = await sceneWithAnn();
    const file = await onDisk('image', 'image/png', bytes(1, 2));
    await adapter.send(createPart(ANN, 'x', { file }), noSignal());
    expect(double.calls().map(({ method }) => method)).toEqual(['sendPhoto', 'sendDocument']);
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'x', file: { name: 'a.bin' } });
    expect(logged.join()).toContain('IMAGE_PROCESS_FAILED');
  });

  it('[M04] have a plain-text caption when the markup is refused', async () => {
    const { double, adapter } = await sceneWithAnn();
    const file = await onDisk('document', 'text/plain', bytes(1));
    await adapter.send(createPart(ANN, '<b>x', { plain: 'x', file }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'x', file: { name: 'a.bin' } });
  });

  it('[F04] can have their caption changed', async () => {
    const { double, adapter } = await sceneWithAnn();
    const file = await onDisk('document', 'text/plain', bytes(1));
    const sent = await adapter.send(createPart(ANN, 'one', { file }), noSignal());
    const edit = (text: string, plain: string) =>
      adapter.messages?.edit?.({ chatId: String(ANN) }, sent.platformMessageId, { text, plain });
    await edit('<i>two</i>', 'two');
    expect(double.conversation(ANN).at(-1)).toMatchObject({
      text: 'two',
      entities: [{}],
      edits: 1,
    });
    await edit('<i>broken', 'three');
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'three', file: {}, edits: 2 });
  });

  it('are sent to the supergroup that a group has become', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: GROUP, text: 'q' });
    const newId = double.migrate(GROUP);
    const file = await onDisk('document', 'text/plain', bytes(1));
    await adapter.send(createPart(GROUP, 'x', { file }), noSignal());
    expect(double.conversation(newId).at(-1)?.file?.name).toBe('a.bin');
  });

  it.each<[string, () => Promise<OutboundFile>]>([
    [
      'missing',
      async () => ({ ...(await onDisk('document', 'x', JPEG)), path: join(folder, 'no') }),
    ],
    ['a folder', async () => ({ ...(await onDisk('document', 'x', JPEG)), path: folder })],
    ['empty', () => onDisk('document', 'x', bytes())],
    [
      'larger than 50 MB',
      async () => {
        const file = await onDisk('document', 'x', bytes(1));
        await truncate(file.path, 50 * 1024 * 1024 + 1);
        return file;
      },
    ],
  ])('[F10] are refused before anything is sent when they are %s', async (_name, make) => {
    const { double, adapter } = await sceneWithAnn();
    const sending = adapter.send(createPart(ANN, 'x', { file: await make() }), noSignal());
    expect(await readFailure(sending)).toEqual({ kind: 'refused' });
    expect(double.calls()).toEqual([]);
  });

  it('[F10] may be larger on a self-hosted server in local mode', async () => {
    const localServer = { folder };
    const settings = () => ({ localServer: true });
    const { double, adapter } = await startTelegramScene({ double: { localServer }, settings });
    double.say({ chat: ANN, text: 'q' });
    expect(adapter.capabilities.maxFileBytes).toBe(200 * 1024 * 1024);
    const file = await onDisk('document', 'x', bytes(1));
    await truncate(file.path, 50 * 1024 * 1024 + 1);
    await adapter.send(createPart(ANN, 'large', { file }), noSignal());
    expect(double.conversation(ANN).at(-1)?.file?.bytes).toHaveLength(50 * 1024 * 1024 + 1);
  });

  it('[D04] report an unknown outcome of an upload without a response', async () => {
    const { double, adapter } = await sceneWithAnn();
    double.fault({ kind: 'reset', after: true });
    const file = await onDisk('image', 'image/jpeg', JPEG);
    const sending = adapter.send(createPart(ANN, 'x', { file }), noSignal());
    expect(await readFailure(sending)).toEqual({ kind: 'unknown-outcome' });
  });

  describe('files with text that exceeds a caption', () => {
    const long = `<b>${'x'.repeat(1_025)}</b>`;
    const buttons = [{ label: 'Ok', data: '/ok' }];

    it('[F10] come first, and the text with the buttons follows', async () => {
      const { double, adapter } = await sceneWithAnn();
      const file = await onDisk('image', 'image/jpeg', JPEG);
      const receipt = await adapter.send(createPart(ANN, long, { file, buttons }), noSignal());
      const [picture, words] = double.conversation(ANN).slice(1);
      expect(picture).toMatchObject({ text: '', file: { name: 'a.bin' } });
      expect(picture?.buttons).toBeUndefined();
      expect(words).toMatchObject({ text: 'x'.repeat(1_025), buttons: ['Ok'] });
      expect(receipt).toEqual({ platformMessageId: String(words?.messageId) });
    });

    it('[F10] are measured by their visible text, so 1,024 characters plus markup fit', async () => {
      const { double, adapter } = await sceneWithAnn();
      const file = await onDisk('image', 'image/jpeg', JPEG);
      const text = `<b>${'&lt;'.repeat(1_024)}</b>`;
      await adapter.send(createPart(ANN, text, { file }), noSignal());
      expect(double.conversation(ANN).slice(1)).toMatchObject([{ text: '<'.repeat(1_024) }]);
    });

    it('[D04] are sent once even if the text has to wait', async () => {
      const { double, adapter } = await sceneWithAnn();
      const file = await onDisk('image', 'image/jpeg', JPEG);
      const refusal = { code: 429, description: 'slow', parameters: { retry_after: 3 } };
      double.fault({ kind: 'refuse', method: 'sendMessage', ...refusal });
      const order = createPart(ANN, long, { file });
      expect(await readFailure(adapter.send(order, noSignal()))).toMatchObject({
        kind: 'rate-limited',
      });
      await adapter.send(order, noSignal());
      expect(double.calls().map(({ method }) => method)).toEqual([
        'sendPhoto',
        'sendMessage',
        'sendMessage',
      ]);
      // A part sent again with this id is new, because nothing of the earlier part is left.
      await adapter.send(order, noSignal());
      expect(double.calls('sendPhoto')).toHaveLength(2);
    });
  });
});
