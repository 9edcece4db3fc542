import sharp from 'sharp';
import { answerOnce } from './in-process.ts';

/** A picture that says that it is larger is not decoded, in pixels. */
const MAX_PIXELS = 50_000_000;
/** Letters in it stay legible. */
const QUALITY = { quality: 90, chromaSubsampling: '4:4:4' } as const;
/** The only formats as which a checked picture may be read: no SVG, no PDF. */
const FORMATS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'];

/**
 * The entry of the process that makes one picture smaller: `readInProcess` starts it with the size of the
 * file and the longest side in pixels. What is written is upright, opaque and without notes of the camera.
 */
const [size, side] = process.argv.slice(2).map(Number);
if (size === undefined || side === undefined) throw new Error('Started without its order.');

sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: FORMATS.map((name) => `VipsForeignLoad${name}Buffer`) });
// The library opens what it needs before the kernel lets it open nothing.
const white = { width: 1, height: 1, channels: 3, background: '#fff' } as const;
await sharp({ create: white }).jpeg(QUALITY).toBuffer();

await answerOnce(size, async (bytes) => {
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
    // It is damaged, or of a kind that the library cannot decode, which comes to the same.
    return null;
  }
});
