import { randomBytes } from 'node:crypto';
import type { Attachment } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { openScene, type WhatsAppScene, type WhatsAppSceneOptions } from './adapter-scene.ts';
import { trustMedia } from './trust-media.ts';

const LIMIT = 1_000_000;
const content = randomBytes(30_000);
const picture = { kind: 'image', content, mimetype: 'image/png' } as const;

async function fileScene(wishes: WhatsAppSceneOptions = {}) {
  const open = await openScene(wishes);
  trustMedia(open.double);
  const ann = open.double.addPerson({ name: 'Ann' });
  return { ...open, ann };
}

/** The attachment of the newest message, once the given number has arrived. */
async function attachmentOf({ double, received }: WhatsAppScene, count = 1): Promise<Attachment> {
  await double.waitFor(() => received.length === count);
  const attachment = received.at(-1)?.attachments?.[0];
  if (attachment === undefined) throw new Error('no attachment');
  return attachment;
}

/** Downloads as the core would. */
function fetched({ adapter }: WhatsAppScene, ref: string, limit = LIMIT): Promise<Uint8Array> {
  if (adapter.files === undefined) throw new Error('no files');
  return adapter.files.fetch(ref, limit, noSignal());
}

/** A picture message on the double's host, which a test can change. */
async function pictureMessage({ double, ann }: Awaited<ReturnType<typeof fileScene>>) {
  const id = await double.acts.sendFile({ ...picture, chat: ann.id });
  const file = double.conversation(ann.id).find((message) => message.id === id)?.attachment;
  const { directPath = '', mediaKey, fileSha256 } = file ?? {};
  if (!mediaKey || !fileSha256) throw new Error('no picture');
  const url = `https://${double.media.address}${directPath}`;
  return { directPath, image: { url, directPath, mediaKey, fileSha256, mimetype: 'image/png' } };
}

describe('files that people send to the WhatsApp adapter', () => {
  it.each([
    [
      { ...picture, caption: 'see' },
      { kind: 'image', mimeType: 'image/png' },
    ],
    [
      { kind: 'document', content, mimetype: 'text/plain', fileName: 'a.txt', caption: 'see' },
      { kind: 'document', name: 'a.txt', mimeType: 'text/plain' },
    ],
    [{ kind: 'audio', content, mimetype: 'audio/ogg', voice: true }, { kind: 'voice' }],
    [{ kind: 'audio', content, mimetype: 'audio/mp4' }, { kind: 'audio' }],
    [{ kind: 'video', content, mimetype: 'video/mp4' }, { kind: 'video' }],
    [{ kind: 'sticker', content, mimetype: 'image/webp' }, { kind: 'sticker' }],
  ] as const)('[F10] arrive as they were sent: %#', async (draft, expected) => {
    const open = await fileScene();
    await open.double.acts.sendFile({ ...draft, chat: open.ann.id });
    const attachment = await attachmentOf(open);
    expect(attachment).toMatchObject({ ...expected, size: content.length });
    expect(open.received[0]?.text).toBe('caption' in draft ? 'see' : '');
    expect(content.equals(await fetched(open, attachment.ref))).toBe(true);
  });

  it('[F08] include the album they belong to when they were selected together', async () => {
    const open = await fileScene();
    const { double, ann, received } = open;
    const album = await double.acts.post(
      { chat: ann.id },
      { albumMessage: { expectedImageCount: 2 } },
    );
    for (const caption of ['one', 'two'])
      await double.acts.sendFile({ ...picture, chat: ann.id, caption, album });
    await double.waitFor(() => received.length === 2);
    expect(received.map(({ text, albumId }) => [text, albumId])).toEqual([
      ['one', album],
      ['two', album],
    ]);
  });

  it('[F10] are refused when they were modified in transit', async () => {
    const open = await fileScene();
    const { directPath } = await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    open.double.media.corrupt(directPath);
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
  });

  it('[F10] are refused when they do not match the message', async () => {
    const open = await fileScene();
    const { image } = await pictureMessage(open);
    const other = { ...image, fileSha256: randomBytes(32) };
    await open.double.acts.post({ chat: open.ann.id }, { imageMessage: other });
    const { ref } = await attachmentOf(open, 2);
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
  });

  it('[F10] are not downloaded when their declared size is too large, and otherwise only up to the limit', async () => {
    const open = await fileScene();
    const { image } = await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    expect(await readFailure(fetched(open, ref, 10_000))).toEqual({ kind: 'refused' });
    expect(open.double.media.asked).toEqual([]);
    await open.double.acts.post({ chat: open.ann.id }, { imageMessage: image });
    const silent = await attachmentOf(open, 2);
    expect(silent.size).toBeUndefined();
    expect(await readFailure(fetched(open, silent.ref, 10_000))).toEqual({ kind: 'refused' });
    expect(content.equals(await fetched(open, silent.ref, content.length))).toBe(true);
  });

  it.each(['http://127.0.0.1:9/x', 'https://10.0.0.1/x', 'https://mmg.whatsapp.net@10.0.0.1/x'])(
    '[F10] are not downloaded from %s named by a stranger',
    async (url) => {
      const open = await fileScene();
      const { image } = await pictureMessage(open);
      const { directPath: _, ...rest } = image;
      await open.double.acts.post({ chat: open.ann.id }, { imageMessage: { ...rest, url } });
      const { ref } = await attachmentOf(open, 2);
      expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
      expect(open.double.media.asked).toEqual([]);
    },
  );

  it('[F10] may be elsewhere on the same servers, but not on other servers', async () => {
    const open = await fileScene();
    const { media } = open.double;
    const { directPath } = await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    media.redirect(directPath, media.putBack(directPath, 'image') ?? '');
    expect(content.equals(await fetched(open, ref))).toBe(true);
    media.redirect(directPath, 'http://127.0.0.1:9/inside');
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
    media.redirect(directPath, directPath);
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
  });

  it('[F10] are requested from the phone when WhatsApp has deleted them', async () => {
    const open = await fileScene();
    const { media } = open.double;
    const { directPath } = await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    media.forget(directPath);
    expect(content.equals(await fetched(open, ref))).toBe(true);
    const members = [open.ann.id, open.double.me.id];
    const group = open.double.addGroup({ subject: 'G', members });
    await open.double.acts.sendFile({ ...picture, chat: group.jid, from: open.ann.id });
    const inGroup = await attachmentOf(open, 2);
    media.forget(open.double.conversation(group.jid)[0]?.attachment?.directPath ?? '');
    expect(content.equals(await fetched(open, inGroup.ref))).toBe(true);
  });

  it('[F10] are reported gone when they no longer exist, even if the phone is off', async () => {
    const open = await fileScene({ env: { ackTimeoutMs: 200 } });
    const { double } = open;
    const { directPath } = await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    double.media.forget(directPath, { onPhone: true });
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'gone' });
    double.silence(true);
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'gone' });
    double.silence(false);
    await open.adapter.stop();
    expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'transient' });
  });

  it('[F10] are retried later while the server fails', async () => {
    const open = await fileScene();
    await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    for (const status of [500, 503, 429]) {
      open.double.media.fail(status);
      expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'transient' });
    }
    const stopped = open.adapter.files?.fetch(ref, LIMIT, AbortSignal.abort());
    expect(await readFailure(stopped ?? Promise.resolve())).toEqual({ kind: 'transient' });
    expect(content.equals(await fetched(open, ref))).toBe(true);
  });

  it.each(['', '{}', 'null', '{"kind":"image"}'])(
    "[F10] are not found by another person's reference: %s",
    async (ref) => {
      const open = await fileScene();
      expect(await readFailure(fetched(open, ref))).toEqual({ kind: 'refused' });
    },
  );

  it('[F10] can still be downloaded after a restart', async () => {
    const open = await fileScene();
    await pictureMessage(open);
    const { ref } = await attachmentOf(open);
    await open.adapter.stop();
    const adapter = await open.again();
    expect(content.equals(await fetched({ ...open, adapter }, ref))).toBe(true);
  });
});
