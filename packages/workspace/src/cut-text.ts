/** How much of a text is shown, in characters (UTF-16 units). */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

/**
 * Shortens a text to at most `limit` characters and adds a line that says so and how long the whole
 * is (P10); that line comes on top of the limit. `what` names the text for the reader.
 */
export function cutText(
  text: string,
  limit: number,
  what: string,
): { readonly text: string; readonly cut: Cut | null } {
  if (text.length <= limit) return { text, cut: null };
  const shown = startOf(text, limit);
  const cut = { shown: shown.length, total: text.length };
  const notice = `[Cut: the first ${count(cut.shown)} of ${count(cut.total)} characters of ${what} are shown.]`;
  return { text: `${shown}\n\n${notice}`, cut };
}

/** The first `limit` characters, one less where that would split a surrogate pair. */
function startOf(text: string, limit: number): string {
  const last = text.charCodeAt(limit - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? limit - 1 : limit);
}

function count(characters: number): string {
  return characters.toLocaleString('en-US');
}
