import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundFile } from '@parley/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart, openScene } from './adapter-scene.ts';
import { trustMedia } from './trust-media.ts';

const content = randomBytes(20_000);

async function fileScene() {
  const open = await openScene();
  trustMedia(open.double);
  const folder = mkdtempSync(join(tmpdir(), 'parley-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  writeFileSync(path, content);
  const ann = open.double.addPerson({ name: 'Ann' });
  const shown = () => open.double.conversation(ann.id);
  return { ...open, ann, path, shown };
}

const file = (path: string, more: Partial<OutboundFile> = {}): OutboundFile => ({
  kind: 'document',
  name: 'report.pdf',
  mimeType: 'application/pdf',
  path,
  ...more,
});

describe('files that the WhatsApp adapter sends', () => {
  it.each([
    ['document', 'application/pdf', { kind: 'document', fileName: 'report.pdf' }],
    ['image', 'image/png', { kind: 'image' }],
    ['video', 'video/mp4', { kind: 'video' }],
  ] as const)(
    '[F10] are sent natively: a %s with its text as caption',
    async (kind, mimeType, seen) => {
      const { adapter, ann, double, path, shown } = await fileScene();
      const sending = { ...createPart(ann.id, 'see *this*'), file: file(path, { kind, mimeType }) };
      const { platformMessageId } = await adapter.send(sending, noSignal());
      expect(shown()).toMatchObject([
        { id: platformMessageId, text: 'see *this*', attachment: { ...seen, mimetype: mimeType } },
      ]);
      const [{ attachment } = { attachment: undefined }] = shown();
      if (attachment === undefined) throw new Error('no file');
      expect(content.equals(await double.open(attachment))).toBe(true);
    },
  );

  it.each([
    ['voice', 'audio/ogg', true, 'audio/ogg; codecs=opus'],
    ['voice', 'audio/mpeg', false, 'audio/mpeg'],
    ['audio', 'audio/ogg', false, 'audio/ogg'],
  ] as const)(
    '[F10] follow their text when they have sound: %s of %s',
    async (kind, mimeType, voice, mimetype) => {
      const { adapter, ann, path, shown } = await fileScene();
      const sending = { ...createPart(ann.id, 'listen'), file: file(path, { kind, mimeType }) };
      const { platformMessageId } = await adapter.send(sending, noSignal());
      expect(shown()).toMatchObject([
        { text: 'listen' },
        { id: platformMessageId, text: '', attachment: { kind: 'audio', voice, mimetype } },
      ]);
      await adapter.send(sending, noSignal());
      expect(shown()).toHaveLength(2);
    },
  );

  it('[F10] follow text that is too long for a caption', async () => {
    const { adapter, ann, path, shown } = await fileScene();
    await adapter.send({ ...createPart(ann.id, 'x'.repeat(1_024)), file: file(path) }, noSignal());
    await adapter.send({ ...createPart(ann.id, 'y'.repeat(1_025)), file: file(path) }, noSignal());
    expect(shown().map(({ text, attachment }) => [text.length, attachment?.kind])).toEqual([
      [1_024, 'document'],
      [1_025, undefined],
      [0, 'document'],
    ]);
  });

  it('[D04] are shown once when they are sent again', async () => {
    const { adapter, ann, double, path, shown } = await fileScene();
    const sending = { ...createPart(ann.id, 'once'), file: file(path) };
    double.fault({ kind: 'no-ack', chat: ann.id });
    const hasty = AbortSignal.timeout(1_500);
    expect((await readFailure(adapter.send(sending, hasty))).kind).toBe('unknown-outcome');
    await adapter.send(sending, noSignal());
    expect(shown()).toHaveLength(1);
  });

  it('are retried later when the server does not accept them', async () => {
    const { adapter, ann, double, path, shown } = await fileScene();
    const sending = { ...createPart(ann.id, 'x'), file: file(path) };
    double.media.fail(500);
    expect(await readFailure(adapter.send(sending, noSignal()))).toEqual({ kind: 'transient' });
    await adapter.send(sending, noSignal());
    expect(shown()).toHaveLength(1);
  });

  it.each(['/nowhere/at/all', tmpdir(), 'https://127.0.0.1:9/x'])(
    'are given up when they cannot be read: %s',
    async (path) => {
      const { adapter, ann, shown } = await fileScene();
      const sending = { ...createPart(ann.id, 'x'), file: file(path) };
      expect(await readFailure(adapter.send(sending, noSignal()))).toEqual({ kind: 'refused' });
      expect(shown()).toEqual([]);
    },
  );
});
