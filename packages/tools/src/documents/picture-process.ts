import sharp from 'sharp';
import { runReaderProcess } from './in-process.ts';

/** A picture that declares more pixels than this is not decoded. */
const MAX_PIXELS = 50_000_000;
/** A JPEG quality at which letters stay legible. */
const QUALITY = { quality: 90, chromaSubsampling: '4:4:4' } as const;
/** The only formats in which a received picture may be decoded; SVG and PDF are excluded. */
const FORMATS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'];

/**
 * The entry point of the process that scales down one picture. `readInProcess` starts this process
 * with the size of the file and the longest side in pixels. The resulting picture is upright,
 * opaque and without camera metadata.
 */
const [size, side] = process.argv.slice(2).map(Number);
if (size === undefined || side === undefined) throw new Error('Started without its arguments.');

sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: FORMATS.map((name) => `VipsForeignLoad${name}Buffer`) });
// The library opens the files it needs before the kernel forbids the process to open any.
const white = { width: 1, height: 1, channels: 3, background: '#fff' } as const;
await sharp({ create: white }).jpeg(QUALITY).toBuffer();

await runReaderProcess(size, async (bytes) => {
  try {
    const jpeg = await sharp(bytes, { limitInputPixels: MAX_PIXELS })
      .autoOrient()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .toColourspace('srgb')
      .jpeg(QUALITY)
      .toBuffer();
    return jpeg.toString('base64');
  } catch {
    // The picture is damaged or of a kind that the library cannot decode; the result is the same.
    return null;
  }
});
