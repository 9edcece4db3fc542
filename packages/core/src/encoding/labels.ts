import { decodeKorean } from './korean.ts';

/** An encoding by its WHATWG label. UTF-32 has no such label and is decoded in this module. */
export type Encoding = string;

/**
 * Labels that programs write but WHATWG does not define, or that Node 20 and 24 interpret
 * differently.
 */
const ALIASES: Readonly<Record<string, string>> = {
  big5hkscs: 'big5',
  'cp-866': 'ibm866',
  cp874: 'windows-874',
  cp932: 'shift_jis',
  cp936: 'gb18030',
  cp949: 'euc-kr',
  cp950: 'big5',
  cp1125: 'ibm866',
  'euc-jis-2004': 'euc-jp',
  'gb2312-80': 'gb18030',
  gbk: 'gb18030',
  'mac-cyrillic': 'x-mac-cyrillic',
  'mac-roman': 'macintosh',
  maccyrillic: 'x-mac-cyrillic',
  macroman: 'macintosh',
  ms932: 'shift_jis',
  ms936: 'gb18030',
  ms949: 'euc-kr',
  'shift-jis-2004': 'shift_jis',
  uhc: 'euc-kr',
  'utf-16-be': 'utf-16be',
  'utf-16-le': 'utf-16le',
  'utf-32': 'utf-32le',
  'utf-32be': 'utf-32be',
  'utf-32le': 'utf-32le',
  'windows-936': 'gb18030',
  'windows-949': 'euc-kr',
  'windows-950': 'big5',
};

/** Returns the encoding that a label names, in any spelling; null if Parley cannot decode it. */
export function findEncoding(label: string): Encoding | null {
  const plain = label.trim().toLowerCase().replaceAll('_', '-');
  const known = ALIASES[plain] ?? ALIASES[plain.replaceAll('-', '')];
  if (known !== undefined) return known;
  for (const name of [plain, plain.replaceAll('-', '_'), label.trim()]) {
    try {
      const { encoding } = new TextDecoder(name);
      // This encoding is a superset of GB2312 and GBK, whose labels are often confused.
      return encoding === 'gbk' ? 'gb18030' : encoding;
    } catch {
      // This spelling is unknown, so the next one is tried.
    }
  }
  return null;
}

export function getEncodingDisplayName(encoding: Encoding): string {
  return (
    NAMES[encoding] ?? encoding.replace(/^(utf|iso|koi8|euc|ibm)/, (part) => part.toUpperCase())
  );
}

const NAMES: Readonly<Record<string, string>> = {
  big5: 'Big5, Traditional Chinese',
  'euc-jp': 'EUC-JP, Japanese',
  'euc-kr': 'EUC-KR, Korean',
  gb18030: 'GB18030, Simplified Chinese',
  'koi8-r': 'KOI8-R, Cyrillic',
  'koi8-u': 'KOI8-U, Cyrillic',
  macintosh: 'Mac OS Roman',
  shift_jis: 'Shift_JIS, Japanese',
  'windows-874': 'Windows-874, Thai',
  'windows-1250': 'Windows-1250, Central European',
  'windows-1251': 'Windows-1251, Cyrillic',
  'windows-1252': 'Windows-1252, Western European',
  'windows-1253': 'Windows-1253, Greek',
  'windows-1254': 'Windows-1254, Turkish',
  'windows-1255': 'Windows-1255, Hebrew',
  'windows-1256': 'Windows-1256, Arabic',
  'windows-1257': 'Windows-1257, Baltic',
  'windows-1258': 'Windows-1258, Vietnamese',
};

/**
 * Decodes bytes in an encoding; invalid bytes become U+FFFD. `isCut` drops an incomplete character
 * at the end.
 */
export function decodeAs(encoding: Encoding, bytes: Uint8Array, isCut = false): string {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return decodeUtf32(encoding, bytes);
  if (encoding === 'windows-1252') return decodeWindows1252(bytes);
  if (encoding === 'euc-kr') return decodeKorean(bytes, isCut);
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes, { stream: isCut });
}

/** Decodes many bytes in chunks, for callers that keep only part of the text. */
export function* decodeInPieces(encoding: Encoding, bytes: Uint8Array): Iterable<string> {
  const isOwn = encoding.startsWith('utf-32') || encoding === 'windows-1252';
  const decoder = isOwn ? null : new TextDecoder(encoding, { ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const stream = at + PIECE_BYTES < bytes.length;
    yield decoder === null ? decodeAs(encoding, piece) : decoder.decode(piece, { stream });
  }
}

/** The chunk size, which is divisible by the four bytes of UTF-32. */
const PIECE_BYTES = 262_144;

/** Characters of Windows-1252 that Node 20 decodes as control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\u0080-\u009f]/g, (character) => {
    return WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character;
  });
}

function decodeUtf32(encoding: 'utf-32le' | 'utf-32be', bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, encoding === 'utf-32le');
    const isValid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    pieces.push(isValid ? String.fromCodePoint(point) : '\uFFFD');
  }
  return pieces.join('');
}
