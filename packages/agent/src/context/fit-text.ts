import { cutText, estimateTokens } from '@parley/workspace';

/** A text within so many tokens, with a notice where it was cut (P10); `what` names it for the reader. */
export function fitText(text: string, budget: number, what: string): string {
  const tokens = estimateTokens(text);
  if (tokens <= budget) return text;
  // The estimate is by characters, which do not all cost the same.
  let length = Math.floor((text.length * budget) / tokens);
  while (length > 0 && estimateTokens(text.slice(0, length)) > budget) {
    length = Math.floor(length * 0.9);
  }
  return cutText(text, length, what).text;
}
