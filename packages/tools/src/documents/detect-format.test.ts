import { describe, expect, it } from 'vitest';
import { audioTypeOf, detectFormat, imageTypeOf, pixelsOf } from './detect-format.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('what a file is', () => {
  it.each([
    ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg'],
    ['\u0089PNG\r\n\u001a\n', 'image/png'],
    ['GIF89a', 'image/gif'],
    ['RIFF\0\0\0\0WEBP', 'image/webp'],
    ['BM a bitmap', null],
    ['', null],
  ])('[F10] as a picture: %j is %s', (beginning, type) => {
    expect(imageTypeOf(bytes(beginning))).toBe(type);
  });

  it.each([
    ['a PNG', '\u0089PNG\r\n\u001a\n\0\0\0\rIHDR\0\u0001\0\0\0\0\u0002\0', 65_536 * 512],
    ['a GIF', 'GIF89a\u0001\u0001\u0002\0', 257 * 2],
    [
      'a JPEG',
      '\u00ff\u00d8\u00ff\u00e0\0\u0004ab\u00ff\u00ff\u00c2\0\u0011\b\u0001\0\0\u0003',
      256 * 3,
    ],
    ['a lossy WebP', `RIFF\0\0\0\0WEBPVP8 ${'.'.repeat(10)}\u0010\0\u0003\u0040`, 16 * 3],
    ['a lossless WebP', `RIFF\0\0\0\0WEBPVP8L....\u002f\u0001\u0040\0\0`, 2 * 2],
    ['an animated WebP', `RIFF\0\0\0\0WEBPVP8X${'.'.repeat(8)}\u0001\0\0\0\u0001\0.`, 2 * 257],
    ['half a PNG', '\u0089PNG\r\n\u001a\n\0\0\0\rIHDR', null],
    ['half a JPEG', '\u00ff\u00d8\u00ff\u00e0\0\u0004ab', null],
    ['no picture', 'hello', null],
  ])('[G19] %s states its size without being decoded', (_what, beginning, pixels) => {
    expect(pixelsOf(bytes(beginning))).toBe(pixels);
  });

  it.each([
    ['OggS', 'ogg'],
    ['ID3\u0004', 'mp3'],
    ['\u00ff\u00fb\u0090', 'mp3'],
    ['RIFF\0\0\0\0WAVE', 'wav'],
    ['fLaC', 'flac'],
    ['\0\0\0 ftypM4A ', 'm4a'],
    ['\u001aE\u00df\u00a3', 'webm'],
    ['\u00ff\u00d8\u00ff', undefined],
    ['hello', undefined],
  ])('[F10] as a recording: %j ends in %s', (beginning, extension) => {
    expect(audioTypeOf(bytes(beginning))?.extension).toBe(extension);
  });

  it.each([
    ['garbage and then %PDF-1.7', 'pdf'],
    ['PK\u0003\u0004', 'zip'],
    ['{\\rtf1', 'rtf'],
    ['a,b\n1,2', 'text'],
    ['colours: \u001b[31mred', 'text'],
    ['MZ\0\u0001', 'binary'],
    ['\u0001\u0002\u0003 few letters', 'binary'],
  ])('[F10] as a document: %j is %s', (beginning, format) => {
    expect(detectFormat(bytes(beginning))).toBe(format);
  });
});
