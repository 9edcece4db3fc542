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

/** Every way to begin a new line, the rare ones of Unicode included. */
const LINE_ENDS = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/;

/** Each line behind `> `, so that nothing in it can pass for words around it (P18). */
export function quotedLines(text: string): string {
  return text
    .split(LINE_ENDS)
    .map((line) => `> ${line}`)
    .join('\n');
}
