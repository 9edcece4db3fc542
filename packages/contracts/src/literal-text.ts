/** The signs that could make markup of a text in Markdown. */
const SIGNS = /[\\`*_{}[\]()#+!|<>~]/g;

/** A text that shows in Markdown as it is, whatever signs stand in it. */
export function literal(text: string): string {
  return text.replace(SIGNS, '\\$&');
}

/** The same in one line, for names and reasons that others wrote. */
export function literalLine(text: string): string {
  return literal(text.replace(/\s+/g, ' ').trim());
}
