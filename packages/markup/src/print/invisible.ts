/** Separates two characters, or keeps a name or a token from being recognized. */
export const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Placed next to a character that would be parsed as a marker, in dialects without an escape
 * character. U+2060 is used instead of the zero-width space, because it does not allow a line break
 * and no client treats it as whitespace (Apple's libraries do for U+200B, which would make it a
 * word boundary).
 */
export const WORD_JOINER = '\u2060';
