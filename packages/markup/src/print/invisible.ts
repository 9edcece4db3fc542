/** Separates two characters, or keeps a name or a token from being recognized. */
export const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Placed next to a character that would be taken for a marker, in dialects without an escape character.
 * U+2060 and not the zero width space: it allows no line break, and no client counts it as white
 * space (Apple's libraries do count U+200B, which would make it a word's edge).
 */
export const WORD_JOINER = '\u2060';
