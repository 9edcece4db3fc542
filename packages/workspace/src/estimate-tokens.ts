/** Characters up to here (Latin, IPA) come about four to a token, the others about one. */
const LAST_LATIN = 0x24f;

/** About how many tokens a text costs, without a tokenizer: for limits and reports, never for bills. */
export function estimateTokens(text: string): number {
  return Math.ceil(quarterTokens(text) / 4);
}

/** The same in quarters of a token, which add up exactly when texts are put together. */
export function quarterTokens(text: string): number {
  let quarters = 0;
  for (const character of text) {
    quarters += (character.codePointAt(0) ?? 0) > LAST_LATIN ? 4 : 1;
  }
  return quarters;
}
