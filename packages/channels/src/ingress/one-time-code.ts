/**
 * Letters and digits that are easy to tell apart: without 0 and O, 1 and I. There are 32, so each
 * character encodes 5 bits.
 */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** With 40 bits, guessing one of a few valid codes within an hour is infeasible. */
export const CODE_LENGTH = 8;

/** A code that people read and type (F05, F13), with one character per random byte. */
export function createOneTimeCode(random: Uint8Array, length = CODE_LENGTH): string {
  return Array.from(random.subarray(0, length), (byte) => ALPHABET[byte % 32]).join('');
}

/** Parses a code for an account whose settings may specify a different length. */
export const typedPairingCode = (text: string): string | null => parseTypedCode(text, 6, 16);

/** The length of an approval code: 30 bits, valid for minutes, and usable only by approvers. */
export const APPROVAL_CODE_LENGTH = 6;

/**
 * Parses a typed code in any case and width, with spaces and dashes, in quotes or brackets, or
 * followed by a full stop; null when the text cannot be a code.
 */
export function parseTypedCode(
  text: string,
  length = CODE_LENGTH,
  longest = length,
): string | null {
  const code = text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const isCode =
    code.length >= length &&
    code.length <= longest &&
    [...code].every((sign) => ALPHABET.includes(sign));
  return isCode ? code : null;
}

/**
 * The code at the beginning of a text, and the text after it; null when the text does not start
 * with a code.
 */
export function splitLeadingCode(
  text: string,
  length: number,
): { readonly code: string; readonly rest: string } | null {
  const whole = parseTypedCode(text, length);
  if (whole !== null) return { code: whole, rest: '' };
  for (const { index } of text.matchAll(/[\s,.;:!?]+/g)) {
    const code = parseTypedCode(text.slice(0, index), length);
    if (code !== null) return { code, rest: text.slice(index).replace(/^[\s,.;:!?]+/, '') };
  }
  return null;
}
