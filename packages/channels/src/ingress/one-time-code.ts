/** Letters and digits that nobody takes for one another: without 0 and O, 1 and I. There are 32. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** 40 bits: guessing one of a few valid codes within an hour is hopeless. */
export const CODE_LENGTH = 8;

/** A code for people to read and type (F05, F13), one sign for each random byte. */
export function oneTimeCode(random: Uint8Array, length = CODE_LENGTH): string {
  return Array.from(random.subarray(0, length), (byte) => ALPHABET[byte % 32]).join('');
}

/** A code as somebody typed it: in any case, with spaces and dashes; null when it cannot be one. */
export function typedCode(text: string, length = CODE_LENGTH): string | null {
  const code = text.toUpperCase().replace(/[\s-]/g, '');
  const isCode = code.length === length && [...code].every((sign) => ALPHABET.includes(sign));
  return isCode ? code : null;
}
