const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Columns a text takes in a fixed-width font: wide East Asian characters and emoji take two, marks
 * that combine take none. Counted by grapheme, as terminals and phones draw them.
 */
export function textWidth(text: string): number {
  if (isLatin(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Latin letters and signs, each a character of its own; not the soft hyphen, which is not seen. */
function isLatin(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x2ff || (code > 0x7e && code < 0xa0) || code === 0xad) return false;
  }
  return true;
}

const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Mn}\p{Me}\u{1160}-\u{11ff}]*$/u;
const EMOJI = /^\p{Emoji_Presentation}|\u{fe0f}/u;
/** Unicode's East_Asian_Width W and F, less the rare: CJK, kana, Hangul, full-width forms. */
const WIDE =
  /^[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}
