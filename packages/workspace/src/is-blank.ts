/**
 * True when a Markdown text says nothing yet: HTML comments, headings, rules and list items without
 * a value (`- **Name:**`) are a form that nobody filled in. Such a file costs no tokens.
 */
export function isBlank(text: string): boolean {
  return withoutComments(text)
    .split('\n')
    .every((line) => EMPTY_LINE.test(line.trim()));
}

/** Nothing; a heading; a rule; a list item that is empty, or only a label with its colon. */
const EMPTY_LINE = /^(?:|#{1,6}|#{1,6}\s.*|-{3,}|[-*+]|[-*+] [*_]{0,3}[^:*_`]{1,60}:[*_]{0,3})$/;

/** A comment that is never closed is text. Not a regular expression: its time would grow with the square. */
function withoutComments(text: string): string {
  let rest = text;
  let kept = '';
  for (;;) {
    const start = rest.indexOf('<!--');
    const end = start === -1 ? -1 : rest.indexOf('-->', start + 4);
    if (end === -1) return kept + rest;
    kept += rest.slice(0, start);
    rest = rest.slice(end + 3);
  }
}
