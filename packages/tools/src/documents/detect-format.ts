/** What a file is, by its first bytes; a declared name or type proves nothing. */
type FileFormat = 'pdf' | 'zip' | 'old-office' | 'rtf' | 'text' | 'binary';

/** Pictures that language models take. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** Recordings that transcription services take, with the ending by which they distinguish them. */
interface AudioType {
  readonly mimeType: string;
  readonly extension: string;
}

/** PDF readers accept their mark this far from the beginning. */
const PDF_MARK_WITHIN = 1_024;
/** How much of a file decides whether it is text, in bytes. */
const LOOKED_AT = 64 * 1_024;
/** The compound files of Office before 2007, and of encrypted ones since. */
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** Detects the format of a file. */
export function detectFormat(bytes: Uint8Array): FileFormat {
  if (latin1(bytes, 0, PDF_MARK_WITHIN).includes('%PDF-')) return 'pdf';
  if (has(bytes, 0, 'PK\u0003\u0004') || has(bytes, 0, 'PK\u0005\u0006')) return 'zip';
  if (COMPOUND.every((byte, at) => bytes[at] === byte)) return 'old-office';
  if (has(bytes, 0, '{\\rtf')) return 'rtf';
  return looksLikeText(bytes) ? 'text' : 'binary';
}

/** The type of a picture that models take, else null. */
export function imageTypeOf(bytes: Uint8Array): ImageType | null {
  if (has(bytes, 0, '\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (has(bytes, 0, '\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (has(bytes, 0, 'GIF87a') || has(bytes, 0, 'GIF89a')) return 'image/gif';
  if (has(bytes, 0, 'RIFF') && has(bytes, 8, 'WEBP')) return 'image/webp';
  return null;
}

/** How many pixels a picture says it has, without decoding it; null when it does not say. */
export function pixelsOf(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (imageTypeOf(bytes)) {
      case 'image/png':
        return has(bytes, 12, 'IHDR') ? view.getUint32(16) * view.getUint32(20) : null;
      case 'image/gif':
        return view.getUint16(6, true) * view.getUint16(8, true);
      case 'image/webp':
        return webpPixels(bytes, view);
      case 'image/jpeg':
        return jpegPixels(view);
      case null:
        return null;
    }
  } catch {
    return null; // It ends before it says so.
  }
}

function webpPixels(bytes: Uint8Array, view: DataView): number {
  const low14 = (value: number): number => value & 0x3fff;
  if (has(bytes, 12, 'VP8X')) {
    const size = (at: number): number => (view.getUint32(at, true) & 0xffffff) + 1;
    return size(24) * size(27);
  }
  if (has(bytes, 12, 'VP8L')) {
    const sizes = view.getUint32(21, true);
    return (low14(sizes) + 1) * (low14(sizes >>> 14) + 1);
  }
  return low14(view.getUint16(26, true)) * low14(view.getUint16(28, true));
}

/** Goes from segment to segment up to the one that starts a frame. */
function jpegPixels(view: DataView): number {
  for (let at = 2; ; ) {
    const marker = view.getUint8(at + 1);
    const startsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (startsFrame) return view.getUint16(at + 5) * view.getUint16(at + 7);
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
}

/** The type of a recording that transcription services take, else null. */
export function audioTypeOf(bytes: Uint8Array): AudioType | null {
  if (has(bytes, 0, 'OggS')) return { mimeType: 'audio/ogg', extension: 'ogg' };
  if (has(bytes, 0, 'ID3') || isMpegFrame(bytes)) {
    return { mimeType: 'audio/mpeg', extension: 'mp3' };
  }
  if (has(bytes, 0, 'RIFF') && has(bytes, 8, 'WAVE')) {
    return { mimeType: 'audio/wav', extension: 'wav' };
  }
  if (has(bytes, 0, 'fLaC')) return { mimeType: 'audio/flac', extension: 'flac' };
  if (has(bytes, 4, 'ftyp')) return { mimeType: 'audio/mp4', extension: 'm4a' };
  if (has(bytes, 0, '\u001a\u0045\u00df\u00a3'))
    return { mimeType: 'audio/webm', extension: 'webm' };
  return null;
}

/** Eleven set bits, and a layer: layer 0 would be the AAC of radio, which chats do not use. */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}

/** No NUL and hardly any control character, unless it says that it is UTF-16. */
function looksLikeText(bytes: Uint8Array): boolean {
  if (has(bytes, 0, '\u00ff\u00fe') || has(bytes, 0, '\u00fe\u00ff')) return true;
  const beginning = bytes.subarray(0, LOOKED_AT);
  let controls = 0;
  for (const byte of beginning) {
    if (byte === 0) return false;
    const isSpace = byte >= 9 && byte <= 13;
    if (byte < 32 && !isSpace && byte !== 27) controls += 1;
  }
  return controls * 100 <= beginning.length;
}

function has(bytes: Uint8Array, at: number, mark: string): boolean {
  return latin1(bytes, at, at + mark.length) === mark;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
