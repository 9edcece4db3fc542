import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const DAY_MS = 24 * 60 * 60 * 1000;
const bytes = new TextEncoder().encode('what is in it');

async function refOf(here: DiscordScene, name = 'note.txt', type = 'text/plain'): Promise<string> {
  here.double.say({ channel: here.double.channelId, from: ANN, files: [{ name, bytes, type }] });
  const { attachments } = await here.hears(1);
  return attachments?.[0]?.ref ?? '';
}

const text = (data: Uint8Array | undefined) => new TextDecoder().decode(data);

describe('[F10] files that people send on Discord', () => {
  it('arrive with kind, name, type and size', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const files = [
      ['cat.png', 'image/png'],
      ['song.mp3', 'audio/mpeg'],
      ['film.mp4', 'video/mp4'],
      ['note.txt', 'text/plain'],
    ].map(([name = '', type]) => ({ name, type, bytes }));
    here.double.say({ channel: here.double.channelId, from: ANN, files });
    const { attachments, text: words } = await here.hears(1);
    expect(words).toBe('');
    expect(
      attachments?.map(({ kind, name, mimeType, size }) => [kind, name, mimeType, size]),
    ).toEqual([
      ['image', 'cat.png', 'image/png', 13],
      ['audio', 'song.mp3', 'audio/mpeg', 13],
      ['video', 'film.mp4', 'video/mp4', 13],
      ['document', 'note.txt', 'text/plain', 13],
    ]);
  });

  it('are downloaded by their reference, up to a limit', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const ref = await refOf(here);
    expect(text(await here.adapter.files?.fetch(ref, 13, noSignal()))).toBe('what is in it');
    const tooMuch = here.adapter.files?.fetch(ref, 12, noSignal());
    expect(await readFailure(Promise.resolve(tooMuch))).toEqual({ kind: 'refused' });
  });

  it('are downloaded even if their URL has expired, as long as the message exists', async () => {
    let now = Date.now();
    const clock = () => now;
    const here = await startDiscordScene({ clock, double: { clock } });
    await here.connect();
    const ref = await refOf(here);
    now += DAY_MS + 1;
    expect(text(await here.adapter.files?.fetch(ref, 100, noSignal()))).toBe('what is in it');
    now += DAY_MS + 1;
    here.double.erase(here.double.channelId, here.received[0]?.messageId ?? '');
    const gone = here.adapter.files?.fetch(ref, 100, noSignal());
    expect(await readFailure(Promise.resolve(gone))).toEqual({ kind: 'gone' });
  });

  it('are only downloaded from Discord, whatever a reference contains', async () => {
    const asked: string[] = [];
    const other = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('secret');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const here = await startDiscordScene();
    for (const ref of [
      `http://127.0.0.1:${port}/attachments/1/2/x`,
      'http://169.254.169.254/latest/meta-data',
      'https://cdn.discordapp.com.evil.example/x',
      'https://cdn.discordapp.com@127.0.0.1/x',
      'file:///etc/passwd',
    ]) {
      const fetching = here.adapter.files?.fetch(ref, 100, noSignal());
      expect(await readFailure(Promise.resolve(fetching)), ref).toEqual({ kind: 'refused' });
    }
    expect(asked).toEqual([]);
    await new Promise((resolve) => other.close(resolve));
  });
});
