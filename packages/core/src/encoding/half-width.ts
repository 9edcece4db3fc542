/**
 * Whether the text has words in half-width kana, as Japanese banks write them. Each kana is one
 * byte, so words in any other table may look like them; but voicing marks follow at most half of
 * the letters, and other tables have no letters where the first rows of kana are.
 */
export function hasHalfWidthWords(text: string): boolean {
  const words = text.match(/[\uff66-\uff9f]+/g) ?? [];
  const letters = words.join('');
  if (letters.length < MIN_LETTERS) return false;
  const marks = letters.match(/[\uff9e\uff9f]/g)?.length ?? 0;
  const voiced = letters.match(/[ｳｶ-ﾄﾊ-ﾎ]\uff9e|[ﾊ-ﾎ]\uff9f/g)?.length ?? 0;
  const firstRows = letters.match(/[ｱ-ｿ]/g)?.length ?? 0;
  const beginsWithSmall = words.some((word) => /^[ｧ-ｯ]/.test(word));
  return (
    marks > 0 && marks === voiced && !beginsWithSmall && firstRows >= letters.length * FIRST_ROWS
  );
}

const MIN_LETTERS = 4;
/** The minimum share of letters from the first three of ten rows. */
const FIRST_ROWS = 0.15;
