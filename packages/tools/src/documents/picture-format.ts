import { decodeLatin1, hasSignature } from './sound-format.ts';

/** Picture formats that language models accept. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** The properties of a picture that its bytes reveal without decoding; null for unknown values. */
export interface PictureFormat {
  readonly type: ImageType | 'image/avif' | 'image/heic';
  readonly size: PictureSize | null;
  /** Whether the picture has camera metadata, such as its orientation and location. */
  readonly hasExif: boolean;
}

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Returns the format of a picture; null for any other file, such as an SVG drawing. */
export function detectPictureFormat(bytes: Uint8Array): PictureFormat | null {
  const type = detectImageType(bytes) ?? detectHeifType(bytes);
  if (type === null) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return { type, ...describePicture(type, bytes, view) };
  } catch {
    return { type, size: null, hasExif: false }; // The file ends before the picture size.
  }
}

/** Returns the number of pixels that a picture declares; null if it declares none. */
export function countPixels(bytes: Uint8Array): number | null {
  const size = detectPictureFormat(bytes)?.size;
  return size ? size.width * size.height : null;
}

function detectImageType(bytes: Uint8Array): ImageType | null {
  if (hasSignature(bytes, 0, '\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (hasSignature(bytes, 0, '\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (hasSignature(bytes, 0, 'GIF87a') || hasSignature(bytes, 0, 'GIF89a')) return 'image/gif';
  if (hasSignature(bytes, 0, 'RIFF') && hasSignature(bytes, 8, 'WEBP')) return 'image/webp';
  return null;
}

/** The brands in the first box of such a file are within this many bytes. */
const BRANDS_WITHIN = 64;

/** Pictures in an MPEG container: AVIF, and HEIC, the format used by Apple's phones. */
function detectHeifType(bytes: Uint8Array): 'image/avif' | 'image/heic' | null {
  if (!hasSignature(bytes, 4, 'ftyp')) return null;
  const [, , , length = 0] = bytes;
  const brands = decodeLatin1(bytes, 8, Math.min(length, BRANDS_WITHIN)).match(/.{4}/gs) ?? [];
  if (brands.some((brand) => brand === 'avif' || brand === 'avis')) return 'image/avif';
  return brands.some((brand) => /^(?:he[ivx][cmsx]|mif1|msf1)$/.test(brand)) ? 'image/heic' : null;
}

function describePicture(
  type: PictureFormat['type'],
  bytes: Uint8Array,
  view: DataView,
): Omit<PictureFormat, 'type'> {
  switch (type) {
    case 'image/png': {
      const isPng = hasSignature(bytes, 12, 'IHDR');
      return toFormatWithoutExif(
        isPng ? { width: view.getUint32(16), height: view.getUint32(20) } : null,
      );
    }
    case 'image/gif':
      return toFormatWithoutExif({
        width: view.getUint16(6, true),
        height: view.getUint16(8, true),
      });
    case 'image/webp':
      return toFormatWithoutExif(readWebpSize(bytes, view));
    case 'image/jpeg':
      return readJpegFormat(bytes, view);
    case 'image/avif':
    case 'image/heic':
      return toFormatWithoutExif(null);
  }
}

function toFormatWithoutExif(size: PictureSize | null): Omit<PictureFormat, 'type'> {
  return { size, hasExif: false };
}

function readWebpSize(bytes: Uint8Array, view: DataView): PictureSize {
  const low14 = (value: number): number => value & 0x3fff;
  if (hasSignature(bytes, 12, 'VP8X')) {
    const length = (at: number): number => (view.getUint32(at, true) & 0xffffff) + 1;
    return { width: length(24), height: length(27) };
  }
  if (hasSignature(bytes, 12, 'VP8L')) {
    const sizes = view.getUint32(21, true);
    return { width: low14(sizes) + 1, height: low14(sizes >>> 14) + 1 };
  }
  return { width: low14(view.getUint16(26, true)), height: low14(view.getUint16(28, true)) };
}

/** Walks through the JPEG segments up to the one that starts a frame. */
function readJpegFormat(bytes: Uint8Array, view: DataView): Omit<PictureFormat, 'type'> {
  let hasExif = false;
  for (let at = 2; ; ) {
    const marker = view.getUint8(at + 1);
    const startsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (startsFrame) {
      const size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
      return { size, hasExif };
    }
    if (marker === 0xe1 && hasSignature(bytes, at + 4, 'Exif')) hasExif = true;
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
}
