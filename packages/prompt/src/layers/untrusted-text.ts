/**
 * Invisible, direction-changing and control characters, line separators, and `< > &`: what could
 * close a fence or hide text. The zero-width joiner stays, since emoji need it.
 */
const RISKY =
  /[<>&\p{Cc}\u00ad\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * Text of a chat user as one line of data (P18): a JSON string that cannot leave its quotes, its line
 * or the fence around it, at most `limit` characters of the original and saying so when cut (P10).
 */
export function quoteUntrusted(text: string, limit: number): string {
  return escapeRisky(JSON.stringify(capUntrusted(text, limit)));
}

/** A value with text of chat users as one line of JSON, escaped like `quoteUntrusted`. */
export function untrustedJson(value: object): string {
  return escapeRisky(JSON.stringify(value));
}

/** At most `limit` characters, with a note of how long the whole is. */
export function capUntrusted(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()}… [cut: ${limit} of ${text.length} characters]`;
}

function escapeRisky(json: string): string {
  return json.replace(RISKY, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}
