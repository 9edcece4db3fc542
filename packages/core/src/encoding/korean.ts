/**
 * Decodes EUC-KR as Windows writes it, with all syllables (code page 949). Node decodes only the
 * 2,350 syllables of the standard: the others, which are common in chats, are two bytes outside the
 * standard's square, in Unicode order.
 */
export function decodeKorean(bytes: Uint8Array, isCut: boolean): string {
  const standard = new TextDecoder('euc-kr', { ignoreBOM: true }).decode(bytes, { stream: isCut });
  // Node decodes a lead byte that the standard does not define as a control character.
  if (!/[\u0080-\u009f\uFFFD]/.test(standard)) return standard;
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const trail = bytes[at + 1] ?? 0;
    const place = findSyllableIndex(lead, trail);
    if (place === null) {
      at += lead >= 0x81 && trail >= 0x81 ? 2 : 1;
      continue;
    }
    pieces.push(new TextDecoder('euc-kr').decode(bytes.subarray(from, at)));
    pieces.push(otherSyllables()[place] ?? '\uFFFD');
    at += 2;
    from = at;
  }
  const rest = new TextDecoder('euc-kr').decode(bytes.subarray(from), { stream: isCut });
  return [...pieces, rest].join('');
}

/**
 * Returns the index of a syllable outside the standard; null if the bytes are not such a syllable.
 */
function findSyllableIndex(lead: number, trail: number): number | null {
  const column = findTrailColumn(trail);
  if (column === null || lead < 0x81 || lead > 0xc6) return null;
  if (lead <= LAST_FULL_ROW) return (lead - 0x81) * FULL_ROW + column;
  const place = (LAST_FULL_ROW - 0x80) * FULL_ROW + (lead - 0xa1) * SHORT_ROW + column;
  return column < SHORT_ROW && place < OTHERS ? place : null;
}

const LAST_FULL_ROW = 0xa0;
/**
 * The number of second bytes: those of two alphabets, and those above them, either up to the
 * standard's square or all.
 */
const SHORT_ROW = 26 + 26 + 32;
const FULL_ROW = 26 + 26 + 126;
const OTHERS = 8_822;

function findTrailColumn(trail: number): number | null {
  if (trail >= 0x41 && trail <= 0x5a) return trail - 0x41;
  if (trail >= 0x61 && trail <= 0x7a) return trail - 0x61 + 26;
  return trail >= 0x81 && trail <= 0xfe ? trail - 0x81 + 52 : null;
}

const otherSyllables = createLazySyllables();

/** The table is built when the first text contains such a syllable. */
function createLazySyllables(): () => readonly string[] {
  let made: readonly string[] | undefined;
  return () => {
    made ??= listExtraSyllables();
    return made;
  };
}

function listExtraSyllables(): readonly string[] {
  const square: number[] = [];
  for (let lead = 0xb0; lead <= 0xc8; lead += 1) {
    for (let trail = 0xa1; trail <= 0xfe; trail += 1) square.push(lead, trail);
  }
  const standard = new Set(new TextDecoder('euc-kr').decode(Uint8Array.from(square)));
  const all = Array.from({ length: 0xd7a3 - 0xac00 + 1 }, (_, nth) =>
    String.fromCharCode(0xac00 + nth),
  );
  return all.filter((syllable) => !standard.has(syllable));
}
