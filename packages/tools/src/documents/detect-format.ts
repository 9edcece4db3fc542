import { decodeText } from '@parley/core/encoding';

/** What a file is, by its first bytes; a declared name or type proves nothing. */
type FileFormat = 'pdf' | 'zip' | 'old-office' | 'rtf' | 'text' | 'binary';

/** Recordings that transcription services take, with the ending by which they distinguish them. */
interface AudioType {
  readonly mimeType: string;
  readonly extension: string;
}

/** How much of a file tells whether it is text, in bytes. */
const LOOKED_AT = 64 * 1_024;
/** PDF readers accept their mark this far from the beginning. */
const PDF_MARK_WITHIN = 1_024;
/** The compound files of Office before 2007, and of encrypted ones since. */
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** The beginnings of programs, archives and databases, some of which have hardly a byte that text has not. */
const PROGRAMS = [
  '\u007fELF',
  'MZ\u0090\0',
  '\u001f\u008b',
  'SQLite format 3\0',
  '\0asm',
  '7z\u00bc\u00af',
  'Rar!',
];

/** Detects the format of a file. */
export function detectFormat(bytes: Uint8Array): FileFormat {
  if (latin1(bytes, 0, PDF_MARK_WITHIN).includes('%PDF-')) return 'pdf';
  if (has(bytes, 0, 'PK\u0003\u0004') || has(bytes, 0, 'PK\u0005\u0006')) return 'zip';
  if (COMPOUND.every((byte, at) => bytes[at] === byte)) return 'old-office';
  if (has(bytes, 0, '{\\rtf')) return 'rtf';
  if (PROGRAMS.some((mark) => has(bytes, 0, mark))) return 'binary';
  return looksLikeText(bytes) ? 'text' : 'binary';
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

/** Whether a file is a video, or sound in a container of one that says nothing else. */
export function isVideo(bytes: Uint8Array): boolean {
  const isMpeg4 = has(bytes, 4, 'ftyp') && !has(bytes, 8, 'M4A ') && !has(bytes, 8, 'M4B ');
  return isMpeg4 || has(bytes, 0, '\u001a\u0045\u00df\u00a3') || has(bytes, 8, 'AVI ');
}

/** Eleven set bits, and a layer: layer 0 would be the AAC of radio, which chats do not use. */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}

/**
 * Whether a file is text in some encoding. NULs alone do not make it binary: a log that was open when the power went
 * has a block of them.
 */
function looksLikeText(bytes: Uint8Array): boolean {
  const isCut = bytes.length > LOOKED_AT;
  const { text, certainty } = decodeText(bytes.subarray(0, LOOKED_AT), { isCut });
  if (certainty === 'none') return false;
  const rest = text.replaceAll('\0', '');
  if (rest === '' && text !== '') return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: What text files do not have.
  const controls = rest.match(/[\u0001-\u0007\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  return controls * 100 <= rest.length;
}

/** Whether bytes have this mark, in Latin-1, at a place. */
export function has(bytes: Uint8Array, at: number, mark: string): boolean {
  return latin1(bytes, at, at + mark.length) === mark;
}

export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
