/**
 * Text that grew out of chats (summaries, saved notes, memories of a group) as a Markdown quotation:
 * none of its lines can begin a section of the prompt (P18).
 */
export function quotedBlock(text: string): string {
  return splitLines(text)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Text of others as an item of a list: its further lines are indented under the first. */
export function listItem(text: string): string {
  const [first = '', ...rest] = splitLines(text);
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)].join('\n');
}

/** Some models take a lone carriage return or a Unicode separator for a new line, too. */
function splitLines(text: string): string[] {
  return text.trim().split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
}
