import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileMessage, listMentionedMembers } from './format.ts';

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

/** A black square picture whose file is small. */
function aPng(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1; // It has one bit per pixel.
  const rows = deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))), { level: 1 });
  const mark = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1');
  const chunks = [chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([mark, ...chunks]);
}

async function previewOf(bytes: Buffer): Promise<Uint8Array | null | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pictures-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'picture');
  writeFileSync(path, bytes);
  const file = { kind: 'image', name: 'a.png', mimeType: 'image/png', path } as const;
  const upload = async () => ({ mediaUrl: 'https://mmg.whatsapp.net/x', directPath: '/x' });
  const { imageMessage } = await createFileMessage(file, '', { upload });
  return imageMessage?.jpegThumbnail;
}

describe('the preview of a picture', () => {
  it('[F10] is sent with the picture', async () => {
    expect(await previewOf(aPng(100))).not.toHaveLength(0);
  });

  it('[G19] is not created from a small file with very many pixels, because decoding it would take too much memory', async () => {
    const bomb = aPng(12_000);
    expect(bomb.length).toBeLessThan(200_000);
    expect(await previewOf(bomb)).toHaveLength(0);
  });
});

const GROUP = {
  id: '1203@g.us',
  owner: undefined,
  subject: 'G',
  participants: [
    { id: '11000@lid', phoneNumber: '491500000001@s.whatsapp.net' },
    { id: '22000@lid' },
  ],
};

describe('mentions in an answer in a group', () => {
  it.each([
    ['hi @491500000001!', ['491500000001@s.whatsapp.net']],
    ['@11000 and (@22000), @11000', ['11000@lid', '22000@lid']],
    ['@33000, ann@11000, @11000x, @@11000, 11000', []],
  ])('[M05] %s', (text, jids) => {
    expect(listMentionedMembers(text, GROUP)).toEqual(jids);
  });
});
