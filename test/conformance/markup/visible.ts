/** Zero-width characters that change what people see: joiners and variation selectors. */
const SHAPING = /[\u200d\ufe0e\ufe0f]/;
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/** Whether the character changes how its neighbors look without being visible itself. */
export function isShaping(character: string): boolean {
  return SHAPING.test(character);
}

/** Whether people see this code point, or its effect on its neighbors. White space is not seen. */
export function isSeen(character: string): boolean {
  return !UNSEEN.test(character) || SHAPING.test(character);
}

/** The code points that people see, in order. */
export function seenCharacters(text: string): string[] {
  return [...text].filter(isSeen);
}

/** Whether people see anything at all. */
export function hasSeen(text: string): boolean {
  return [...text].some((character) => isSeen(character) && !isShaping(character));
}
