/** The last offset up to `at` where the text may be cut; 0 if its first character goes beyond `at`. */
export type CutBefore = (at: number) => number;

/** Cuts that never break what people see as one character, such as a family emoji or a flag. */
export function betweenGraphemes(text: string): CutBefore {
  if (isSimple(text)) return (at) => at;
  // Made only where it is needed: making one costs more than most texts.
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  // Looks only at the neighbourhood of an offset: a hundred times faster than going through all.
  const segments = graphemes.segment(text);
  return (at) => segments.containing(at)?.index ?? at;
}

/** Cuts between code points, for a single character longer than a part. */
export function betweenCodePoints(text: string): CutBefore {
  return (at) => (isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at);
}

/** Below the combining marks every unit is a character of its own; nearly all text is. */
function isSimple(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x300 || code === 0x0d) return false;
  }
  return true;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
