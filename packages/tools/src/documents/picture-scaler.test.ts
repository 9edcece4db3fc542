import { isDueToday } from '@parley/core/testing';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createReaderQueue } from './document-reader.ts';
import { detectPictureFormat } from './picture-format.ts';
import { createPictureScaler, isWorthScaling, type ScaledPicture } from './picture-scaler.ts';
import { PICTURES } from './read-in-process.ts';

const never = new AbortController().signal;
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 40, b: 40, alpha: 0 } } });
const photo = (width: number, height: number) =>
  plain(width, height).withMetadata({ orientation: 6 });

function scale(bytes: Uint8Array | null, { scaler = openScaler(), sender = 'ada' } = {}) {
  return scaler({ sender, side: 1_568, load: async () => bytes }, never);
}
/** The production limits, but with more time for a busy machine. */
const LIMITS = { memoryBytes: 190_000_000, timeoutMs: 100_000 };

function openScaler(more: Partial<Parameters<typeof createPictureScaler>[0]> = {}) {
  return createPictureScaler({ queue: createReaderQueue(), limits: LIMITS, ...more });
}
const madeOf = (picture: ScaledPicture) => sharp(picture.kind === 'scaled' ? picture.bytes : []);

describe('a picture that is scaled down', () => {
  it('[F10] with 12 million pixels becomes upright, small and free of camera metadata', async () => {
    const original = await photo(4_032, 3_024).jpeg().toBuffer();
    const made = await scale(original);
    const { width, height, exif, orientation, format } = await madeOf(made).metadata();
    expect({ width, height, exif, orientation, format }).toEqual({
      ...{ width: 1_176, height: 1_568, format: 'jpeg' },
      ...{ exif: undefined, orientation: undefined },
    });
  });

  const formats = ['png', 'gif', 'webp', 'avif'] as const;
  it.each(formats.filter((_, nth) => isDueToday(nth, 2)))(
    '[F10] is supported in %s format',
    async (format) => {
      // The effort setting makes the file smaller, and accounts for most of the work for AVIF.
      const picture = await plain(2_000, 500).toFormat(format, { effort: 1 }).toBuffer();
      const pixels = await madeOf(await scale(picture))
        .raw()
        .toBuffer({ resolveWithObject: true });
      expect(pixels.info).toMatchObject({ width: 1_568, height: 392 });
      // Transparent pixels become white.
      expect(pixels.data[0]).toBeGreaterThan(250);
    },
  );

  it('[F10] keeps its size if it is small', async () => {
    const made = await scale(await photo(300, 200).jpeg().toBuffer());
    expect(await madeOf(made).metadata()).toMatchObject({ width: 200, height: 300 });
  });

  it.each([
    [
      'a drawing in SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
    ['half a picture', Buffer.from('\u0089PNG\r\n\u001a\n and pixels', 'latin1')],
  ])('[G19] is not decoded if it is %s', async (_what, bytes) => {
    expect(await scale(bytes)).toEqual({ kind: 'failed', why: 'it is damaged' });
  });

  it('[G19] uses no more memory than allowed, and its sender’s next pictures stay unscaled for a while', async () => {
    let now = 0;
    const scaler = openScaler({ monotonic: () => now });
    const crowded = { width: 6_900, height: 6_900, channels: 3, background: '#123' } as const;
    const bomb = await sharp({ create: crowded })
      .png({ progressive: true, compressionLevel: 1 })
      .toBuffer();
    expect((await scale(bomb, { scaler })).kind).toBe('failed');
    const small = await plain(9, 9).png().toBuffer();
    expect((await scale(small, { scaler, sender: 'bo' })).kind).toBe('scaled');
    now = 60_000;
    expect((await scale(small, { scaler })).kind).toBe('scaled');
  });

  it('[G19] counts only the memory of its process, not that of Parley itself', async () => {
    const large = Buffer.alloc(300_000_000, 1);
    expect((await scale(await plain(9, 9).png().toBuffer())).kind).toBe('scaled');
    expect(large.length).toBeGreaterThan(190_000_000);
  });

  it('[G19] pauses its sender if it takes too long', async () => {
    const scaler = openScaler({ limits: { ...LIMITS, timeoutMs: 1 } });
    const small = await plain(9, 9).png().toBuffer();
    expect(await scale(small, { scaler })).toEqual({ kind: 'failed', why: 'time' });
    expect(await scale(small, { scaler })).toMatchObject({ kind: 'not-tried' });
  });

  it('[F10] stays unscaled if the library is not installed or the file is no longer kept', async () => {
    const scaler = openScaler({ kind: { ...PICTURES, libraries: ['@parley/no-such-library'] } });
    expect(await scale(Buffer.of(1), { scaler })).toEqual({
      kind: 'not-tried',
      why: 'the library @parley/no-such-library is not installed',
    });
    expect(await scale(null)).toEqual({ kind: 'not-tried', why: 'it is no longer kept' });
  });
});

describe('pictures that should be scaled down', () => {
  it.each([
    ['as large as models take', photoless(1_568, 900), 200_000, false],
    ['larger', photoless(1_569, 900), 200_000, true],
    ['a large file', photoless(900, 900), 2_000_000, true],
    ['of unknown size', Buffer.from('\u00ff\u00d8\u00ff', 'latin1'), 2_000_000, false],
    ['one with notes of its camera', photo(9, 9).jpeg().toBuffer(), 900, true],
    ['one that models do not take', plain(9, 9).avif().toBuffer(), 900, true],
  ])('[F10] %s: %#', async (_what, bytes, length, isWorth) => {
    const format = detectPictureFormat(await bytes);
    expect(format && isWorthScaling(format, length, 1_568)).toBe(isWorth);
  });
});

function photoless(width: number, height: number): Promise<Buffer> {
  return plain(width, height).jpeg().toBuffer();
}
