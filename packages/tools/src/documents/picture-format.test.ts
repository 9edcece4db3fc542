import { describe, expect, it } from 'vitest';
import { detectPictureFormat } from './picture-format.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('the format of a picture', () => {
  it.each([
    ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg'],
    ['\u0089PNG\r\n\u001a\n', 'image/png'],
    ['GIF89a', 'image/gif'],
    ['RIFF\0\0\0\0WEBP', 'image/webp'],
    ['\0\0\0 ftypavif\0\0\0\0avifmif1miaf', 'image/avif'],
    ['\0\0\0 ftypmif1\0\0\0\0mif1avifmiaf', 'image/avif'],
    ['\0\0\0\u0018ftypheic\0\0\0\0mif1heic', 'image/heic'],
    ['\0\0\0\u0018ftypmp42\0\0\0\0mp42isom', undefined],
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', undefined],
    ['BM a bitmap', undefined],
    ['', undefined],
  ])('[F10] detects a picture: %j is %s', (beginning, type) => {
    expect(detectPictureFormat(bytes(beginning))?.type).toBe(type);
  });

  it.each([
    [
      'a PNG',
      '\u0089PNG\r\n\u001a\n\0\0\0\rIHDR\0\u0001\0\0\0\0\u0002\0',
      { width: 65_536, height: 512 },
    ],
    ['a GIF', 'GIF89a\u0001\u0001\u0002\0', { width: 257, height: 2 }],
    [
      'a JPEG',
      '\u00ff\u00d8\u00ff\u00e0\0\u0004ab\u00ff\u00ff\u00c2\0\u0011\b\u0001\0\0\u0003',
      { width: 3, height: 256 },
    ],
    [
      'a lossy WebP',
      `RIFF\0\0\0\0WEBPVP8 ${'.'.repeat(10)}\u0010\0\u0003\u0040`,
      { width: 16, height: 3 },
    ],
    ['a lossless WebP', `RIFF\0\0\0\0WEBPVP8L....\u002f\u0001\u0040\0\0`, { width: 2, height: 2 }],
    [
      'an animated WebP',
      `RIFF\0\0\0\0WEBPVP8X${'.'.repeat(8)}\u0001\0\0\0\u0001\0.`,
      { width: 2, height: 257 },
    ],
    ['half a PNG', '\u0089PNG\r\n\u001a\n\0\0\0\rIHDR', null],
    ['half a JPEG', '\u00ff\u00d8\u00ff\u00e0\0\u0004ab', null],
    ['no picture', 'hello', undefined],
  ])('[G19] reads the size of %s without decoding it', (_what, beginning, size) => {
    expect(detectPictureFormat(bytes(beginning))?.size).toEqual(size);
  });
});
