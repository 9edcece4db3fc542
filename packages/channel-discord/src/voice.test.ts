import type { OutboundPart } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { createVoiceBody, readOggDuration } from './voice.ts';

/** A page in an Ogg file: its position and its content. */
function page(position: bigint, content: Buffer): Buffer {
  const header = Buffer.alloc(27);
  header.write('OggS');
  header.writeBigInt64LE(position, 6);
  return Buffer.concat([header, content]);
}

function opus(samples: number, skipped = 312): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head.writeUInt16LE(skipped, 10);
  return Buffer.concat([page(0n, head), page(BigInt(samples + skipped), Buffer.from('sound'))]);
}

const target = { dialect: 'discord', maxLength: 2_000, unit: 'utf16' } as const;

function part(change: Partial<OutboundPart> = {}): OutboundPart {
  return {
    id: 'p',
    idempotencyKey: 'k',
    turnId: 't',
    index: 0,
    route: { channel: 'discord', account: 'default', chatId: '5', target },
    body: { text: '', plain: '' },
    file: { kind: 'voice', name: 'voice.ogg', mimeType: 'audio/ogg' },
    ...change,
  };
}

describe('a voice message', () => {
  it('[F10] gets its duration from the last page of the recording', () => {
    expect(readOggDuration(opus(72_000))).toBe(1.5);
    const [attachment] = Object(createVoiceBody(part(), opus(72_000))).attachments;
    expect(attachment).toMatchObject({ filename: 'voice.ogg', duration_secs: 1.5 });
  });

  it.each([
    ['another format', Buffer.from('ID3 an mp3')],
    ['Vorbis in Ogg', page(48_000n, Buffer.from('vorbis'))],
    ['a recording that is cut within its first page', opus(72_000).subarray(0, 36)],
    ['a recording without sound', opus(0)],
    ['nothing', Buffer.alloc(0)],
  ])('[F10] is not created from %s', (_what, bytes) => {
    expect(readOggDuration(bytes)).toBeUndefined();
    expect(createVoiceBody(part(), bytes)).toBeUndefined();
  });

  it.each<[string, Partial<OutboundPart>]>([
    ['a text', { body: { text: 'hi', plain: 'hi' } }],
    ['buttons', { buttons: [{ label: 'yes', data: 'y' }] }],
    ['another kind', { file: { kind: 'audio', name: 'a.ogg', mimeType: 'audio/ogg' } }],
    ['an answer to a command', { route: { ...part().route, response: 'r' } }],
  ])('[F10] with %s is sent as a file, as Discord requires', (_what, change) => {
    expect(createVoiceBody(part(change), opus(72_000))).toBeUndefined();
  });
});
