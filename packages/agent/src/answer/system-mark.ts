const FIRST_MARKS = /^([\s\p{Cf}*_~>#(["'-]*)(?:⚙\uFE0F?[\s\p{Cf}]*)+/u;

/** What an answer says, without the mark of the system at its beginning: that is not the model's (G08). */
export function withoutMark(text: string): string {
  return text.includes('⚙') ? text.replace(FIRST_MARKS, '$1') : text;
}

/** A message of the system: the mark stands before it exactly once (G08). */
export function marked(words: string): string {
  return `⚙️ ${withoutMark(words)}`;
}
