import { createHash, randomBytes } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { downloadMediaMessage, type WAMessage } from '@whiskeysockets/baileys';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startConnectedScene } from './testing/test-scene.ts';

/** A connected client that trusts the double's media host. */
async function startFileScene() {
  const scene = await startConnectedScene();
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, scene.double.media.certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
  return { ...scene, ann: scene.double.addPerson({ name: 'Ann' }) };
}

function download(message: WAMessage): Promise<Buffer> {
  return downloadMediaMessage(message, 'buffer', {});
}

describe('files of the WhatsApp double', () => {
  it('lets the bot download a picture, a document with a caption and a voice note', async () => {
    const { double, client, ann } = await startFileScene();
    const picture = randomBytes(30_000);
    const page = Buffer.from('a page');
    const voice = randomBytes(5_000);
    const chat = ann.id;
    await double.acts.sendFile({
      chat,
      kind: 'image',
      content: picture,
      mimetype: 'image/png',
      caption: 'see',
    });
    await double.acts.sendFile({
      chat,
      kind: 'document',
      content: page,
      mimetype: 'text/plain',
      fileName: 'page.txt',
      caption: 'read',
    });
    await double.acts.sendFile({
      chat,
      kind: 'audio',
      content: voice,
      mimetype: 'audio/ogg; codecs=opus',
      voice: true,
      seconds: 3,
    });
    await client.waitFor(() => client.upserts.length === 3);
    const [image, document, audio] = client.upserts.map(({ message }) => message);
    if (!image || !document || !audio) throw new Error('not three messages');
    expect(image.message).toMatchObject({
      imageMessage: { caption: 'see', mimetype: 'image/png' },
    });
    expect(document.message).toMatchObject({
      documentWithCaptionMessage: { message: { documentMessage: { fileName: 'page.txt' } } },
    });
    expect(audio.message).toMatchObject({ audioMessage: { ptt: true, seconds: 3 } });
    expect((await download(image)).equals(picture)).toBe(true);
    expect((await download(document)).equals(page)).toBe(true);
    expect((await download(audio)).equals(voice)).toBe(true);
    expect(double.conversation(chat)).toMatchObject([
      { text: 'see', attachment: { kind: 'image' } },
      { text: 'read', attachment: { kind: 'document', fileName: 'page.txt' } },
      { text: '', attachment: { kind: 'audio', voice: true } },
    ]);
  });

  it("shows the bot's files to people", async () => {
    const { double, client, ann } = await startFileScene();
    const content = randomBytes(20_000);
    await client.socket.sendMessage(ann.id, {
      document: content,
      mimetype: 'application/pdf',
      fileName: 'report.pdf',
      caption: 'the report',
    });
    const shown = await double.waitFor(() => double.conversation(ann.id)[0]);
    expect(shown).toMatchObject({
      text: 'the report',
      attachment: { kind: 'document', fileName: 'report.pdf', mimetype: 'application/pdf' },
    });
    if (shown.attachment === undefined) throw new Error('no file');
    expect((await double.open(shown.attachment)).equals(content)).toBe(true);
    double.media.corrupt(shown.attachment.directPath ?? '');
    await expect(double.open(shown.attachment)).rejects.toThrow('modified in transit');
  });

  it('simulates missing files and refused uploads', async () => {
    const { double, client, ann } = await startFileScene();
    const draft = { chat: ann.id, kind: 'image', mimetype: 'image/png' } as const;
    await double.acts.sendFile({ ...draft, content: Buffer.from('a picture') });
    const { message } = await client.waitFor(() => client.upserts[0]);
    double.media.fail(503);
    await expect(download(message)).rejects.toThrow('Failed to fetch');
    await download(message);
    double.media.forget(message.message?.imageMessage?.directPath ?? '');
    await expect(download(message)).rejects.toThrow('Failed to fetch');
    const file = { document: Buffer.from('x'), mimetype: 'text/plain', fileName: 'x' };
    double.media.fail(500);
    await expect(client.socket.sendMessage(ann.id, file)).rejects.toThrow('upload failed');
  });

  it('rejects downloads by a client that does not trust the certificate', async () => {
    const { double, client } = await startConnectedScene();
    const file = { document: Buffer.from('x'), mimetype: 'text/plain', fileName: 'x' };
    const sent = client.socket.sendMessage(double.addPerson().id, file);
    await expect(sent).rejects.toThrow('upload failed');
  });
});

describe("problems with Baileys' file handling that adapters have to work around", () => {
  it('accepts a file that was replaced on the host', async () => {
    const { double, client, ann } = await startFileScene();
    const content = randomBytes(1_000);
    const draft = { chat: ann.id, kind: 'image', content, mimetype: 'image/png' } as const;
    await double.acts.sendFile(draft);
    const { message } = await client.waitFor(() => client.upserts[0]);
    const image = message.message?.imageMessage;
    double.media.corrupt(image?.directPath ?? '');
    const fetched = await download(message);
    expect(fetched.equals(content)).toBe(false);
    expect(fetched.length).toBe(content.length);
    // The message contains the hash of the original file.
    const hash = createHash('sha256').update(fetched).digest();
    expect(hash.equals(Buffer.from(image?.fileSha256 ?? []))).toBe(false);
  });

  it('downloads from any URL that a stranger sends', async () => {
    const { double, client, ann } = await startFileScene();
    const asked: string[] = [];
    const unwatch = watchFetch(asked);
    const imageMessage = { url: 'http://127.0.0.1:9/inside', mediaKey: randomBytes(32) };
    await double.acts.post({ chat: ann.id }, { imageMessage });
    const { message } = await client.waitFor(() => client.upserts[0]);
    await expect(download(message)).rejects.toThrow();
    unwatch();
    expect(asked).toEqual(['http://127.0.0.1:9/inside']);
  });
});

/** Records every fetched URL. */
function watchFetch(asked: string[]): () => void {
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    asked.push(String(input instanceof Request ? input.url : input));
    return fetch(input, init);
  };
  return () => {
    globalThis.fetch = fetch;
  };
}
