import { readFile } from 'node:fs/promises';
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { OutboundPart } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry/scrubber';
import { CAPABILITIES } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { scrubPart } from './delivery-worker.ts';
import { withPartFile } from './part-file.ts';

const SECRET = 'correct-hörse-battery';
const { scrub } = openSecrets([SECRET]);

const partWith = (name: string): OutboundPart => ({
  id: 'p1',
  idempotencyKey: 'k1',
  turnId: null,
  index: null,
  route: { channel: 'c', account: 'a', chatId: '1', target: CAPABILITIES.target },
  body: { text: '', plain: '' },
  file: { kind: 'document', name, mimeType: 'text/plain', size: 3 },
});

async function sent(bytes: Uint8Array) {
  const agentFiles = { ofPart: async () => Buffer.from(bytes) };
  const deps = { agentFiles, capabilities: { media: [] }, scrub };
  return withPartFile(deps, partWith('notes.txt'), async ({ file }) => ({
    size: file?.size,
    bytes: await readFile(file?.path ?? ''),
  }));
}

/** An archive of compressed members, with only as much structure as the scan reads. */
function zipSync(members: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const pieces = Object.entries(members).map(([name, bytes]) => {
    const header = Buffer.alloc(30);
    header.write('PK\u0003\u0004', 'latin1');
    header.writeUInt16LE(8, 8);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    return Buffer.concat([header, Buffer.from(name), deflateRawSync(bytes)]);
  });
  return Buffer.concat([...pieces, Buffer.from('PK\u0001\u0002', 'latin1')]);
}

describe('a message part’s file', () => {
  it('[G18] does not contain a secret, wherever it was in the bytes, and its final size is reported', async () => {
    for (const around of [Buffer.from('key: '), Buffer.of(0, 255, 128, 10)]) {
      const file = await sent(Buffer.concat([around, Buffer.from(SECRET), around]));
      expect(file.bytes).toEqual(Buffer.concat([around, Buffer.from('[secret]'), around]));
      expect(file.size).toBe(file.bytes.byteLength);
    }
    const encoded = Buffer.from(`a ${SECRET} b`).toString('base64');
    expect((await sent(Buffer.from(encoded))).bytes.toString()).toContain('[secret]');
  });

  it('[G18] is not sent when one of its compressed members contains a secret', async () => {
    const other = Buffer.from('nothing here '.repeat(50));
    for (const text of [`a ${SECRET} b`, Buffer.from(SECRET).toString('base64')]) {
      const secret = Buffer.from(text);
      const zip = zipSync({ 'word/media/x.bin': other, 'word/document.xml': secret });
      await expect(sent(zip)).rejects.toMatchObject({
        failure: { kind: 'refused' },
        message: expect.stringContaining('notes.txt contains a secret'),
      });
      await expect(sent(gzipSync(secret))).rejects.toThrow('contains a secret');
    }
    const clean = zipSync({ 'word/document.xml': other });
    expect((await sent(clean)).bytes).toEqual(Buffer.from(clean));
    // The archive is only scanned, so the claimed types of its members do not matter.
    for (const cut of [clean.subarray(0, 20), clean.subarray(0, 60)]) {
      expect((await sent(cut)).bytes).toEqual(Buffer.from(cut));
    }
  });

  it('[F10] is unchanged when it contains no secret', async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, at) => at % 256);
    expect((await sent(bytes)).bytes).toEqual(Buffer.from(bytes));
  });

  it("[G18] does not contain a secret in any form of its text, including Telegram's rich message", () => {
    const scrubbed = (body: OutboundPart['body']) =>
      scrubPart({ ...partWith('a'), body }, scrub).body;
    const forms = { text: `<b>a</b> ${SECRET}`, plain: 'a b', rich: `<h1>a</h1><p>${SECRET}</p>` };
    expect(scrubbed(forms)).toEqual({
      text: '<b>a</b> [secret]',
      plain: 'a b',
      rich: '<h1>a</h1><p>[secret]</p>',
    });
    const inside = {
      text: 'a',
      plain: `a ${SECRET}`,
      rich: '<h1>correct-<b>hörse</b>-battery</h1>',
    };
    expect(JSON.stringify(scrubbed(inside))).not.toContain('hörse');
    const clean = { text: 'a', plain: 'a', rich: '<h1>a</h1>' };
    expect(scrubbed(clean)).toBe(clean);
  });

  it('[U03] [G18] always has a name with the right extension', () => {
    const nameOf = (name: string) => scrubPart(partWith(name), scrub).file?.name;
    expect(nameOf('invoice\u202efdp.exe')).toBe('invoicefdp.exe');
    expect(nameOf(`${SECRET}.txt`)).toBe('[secret].txt');
    expect(nameOf('\u202e')).toBe('file');
    expect(nameOf('דוח שנתי.pdf')).toBe('דוח שנתי.pdf');
  });
});
