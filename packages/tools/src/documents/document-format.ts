import { decodeBytes } from '@parley/core/encoding';
import { decodeLatin1, hasSignature } from './sound-format.ts';

/** The format of a file, determined by its first bytes; the declared name and type are ignored. */
type FileFormat = 'pdf' | 'zip' | 'old-office' | 'rtf' | 'text' | 'binary';

/** How many bytes of a file are examined to determine whether it is text. */
const LOOKED_AT = 64 * 1_024;
/** PDF readers accept the signature up to this offset, in bytes. */
const PDF_MARK_WITHIN = 1_024;
/** The signature of Office files before 2007, and of encrypted documents since then. */
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/**
 * The signatures of programs, archives and databases, some of which contain hardly any bytes that
 * do not occur in text.
 */
const PROGRAMS = [
  '\u007fELF',
  'MZ\u0090\0',
  '\u001f\u008b',
  'SQLite format 3\0',
  '\0asm',
  '7z\u00bc\u00af',
  'Rar!',
];

export function detectFormat(bytes: Uint8Array): FileFormat {
  if (decodeLatin1(bytes, 0, PDF_MARK_WITHIN).includes('%PDF-')) return 'pdf';
  if (hasSignature(bytes, 0, 'PK\u0003\u0004') || hasSignature(bytes, 0, 'PK\u0005\u0006'))
    return 'zip';
  if (COMPOUND.every((byte, at) => bytes[at] === byte)) return 'old-office';
  if (hasSignature(bytes, 0, '{\\rtf')) return 'rtf';
  if (PROGRAMS.some((mark) => hasSignature(bytes, 0, mark))) return 'binary';
  return looksLikeText(bytes) ? 'text' : 'binary';
}

/**
 * Whether a file is text in some encoding. NUL bytes alone do not make a file binary: a log that
 * was open during a power failure contains a block of them.
 */
function looksLikeText(bytes: Uint8Array): boolean {
  const isCut = bytes.length > LOOKED_AT;
  const { text, certainty } = decodeBytes(bytes.subarray(0, LOOKED_AT), { isCut });
  if (certainty === 'none') return false;
  const rest = text.replaceAll('\0', '');
  if (rest === '' && text !== '') return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: What text files do not have.
  const controls = rest.match(/[\u0001-\u0007\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  return controls * 100 <= rest.length;
}
