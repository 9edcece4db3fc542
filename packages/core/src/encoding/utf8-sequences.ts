/** Counts of multi-byte sequences. */
interface Utf8SequenceCounts {
  /** Valid multi-byte characters. */
  readonly good: number;
  /** Runs of bytes that are not part of a valid character. */
  readonly bad: number;
  /** Valid sequences that are U+FFFD itself. */
  readonly replacements: number;
}

/** Counts valid and invalid UTF-8 sequences. A run of stray bytes is counted once. */
export function countSequences(bytes: Uint8Array): Utf8SequenceCounts {
  let good = 0;
  let bad = 0;
  let replacements = 0;
  let wasBad = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      wasBad = false;
      at += 1;
      continue;
    }
    const length = getSequenceLength(bytes, at);
    if (length === 0) {
      // The remaining bytes of a character whose first byte is damaged belong to the same damage.
      if (!wasBad || byte >= 0xc0) bad += 1;
      wasBad = true;
      at += 1;
      continue;
    }
    if (byte === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) replacements += 1;
    good += 1;
    wasBad = false;
    at += length;
  }
  return { good, bad, replacements };
}

/** Returns the length of the valid character that begins at this offset; 0 if there is none. */
function getSequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (let index = 1; index < length; index += 1) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1] ?? 0;
  // Excludes overlong encodings, surrogates, and code points beyond Unicode.
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  return length;
}
