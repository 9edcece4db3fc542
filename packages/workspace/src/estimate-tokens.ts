/** Characters up to here (Latin, IPA) come about four to a token, the others about one. */
const LAST_LATIN = 0x24f;

/** About how many tokens a text costs, without a tokenizer: for limits and reports, never for bills. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (const character of text) {
    quarters += (character.codePointAt(0) ?? 0) > LAST_LATIN ? 4 : 1;
  }
  return Math.ceil(quarters / 4);
}
