/**
 * Offsets where the text may be cut without breaking what people see as one character, ascending,
 * without 0. The end counts only if the window reaches it: a character may go on behind the window.
 * @param window how much of the text is looked at, in UTF-16 units.
 */
export function graphemeEnds(text: string, window: number): number[] {
  const seen = text.slice(0, window);
  const ends = isSimple(seen) ? everyUnit(seen) : segmentEnds(seen);
  if (seen.length < text.length) ends.pop();
  return ends;
}

/** Offsets between code points, for a single character longer than a part. */
export function codePointEnds(text: string, window: number): number[] {
  const ends: number[] = [];
  let at = 0;
  for (const point of text.slice(0, window)) {
    at += point.length;
    ends.push(at);
  }
  if (window < text.length) ends.pop();
  return ends;
}

/** Below the combining marks every unit is a character of its own; nearly all text is. */
function isSimple(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x300 || code === 0x0d) return false;
  }
  return true;
}

function everyUnit(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => index + 1);
}

function segmentEnds(text: string): number[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const ends: number[] = [];
  for (const { index, segment } of segmenter.segment(text)) ends.push(index + segment.length);
  return ends;
}
