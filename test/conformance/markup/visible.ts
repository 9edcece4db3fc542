/** Zero-width characters that affect the display: joiners and variation selectors. */
const SHAPING = /[\u200d\ufe0e\ufe0f]/;
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/** Whether the character changes how its neighbors look without being visible itself. */
export function isShaping(character: string): boolean {
  return SHAPING.test(character);
}

/**
 * Whether this code point is visible or changes the look of its neighbors. White space is not
 * visible.
 */
export function isVisible(character: string): boolean {
  return !UNSEEN.test(character) || SHAPING.test(character);
}

/** The visible code points, in order. */
export function listVisibleCharacters(text: string): string[] {
  return [...text].filter(isVisible);
}

/** Whether the text contains a visible character. */
export function hasVisibleCharacter(text: string): boolean {
  return [...text].some((character) => isVisible(character) && !isShaping(character));
}
