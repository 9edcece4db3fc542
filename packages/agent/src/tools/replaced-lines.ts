/** Lines of one side of a difference that are shown. */
const MOST_LINES = 12;

/**
 * What a replacement changed, as whole lines with `-` and `+`, so that a model sees its own mistakes.
 * `at`: where `old` begins in `before`.
 */
export function replacedLines(
  before: string,
  at: number,
  old: string,
  replacement: string,
): string {
  const start = before.lastIndexOf('\n', at - 1) + 1;
  const end = endOfLine(before, at + old.length);
  const [head, tail] = [before.slice(start, at), before.slice(at + old.length, end)];
  const line = before.slice(0, start).split('\n').length;
  return [
    `@@ line ${line}`,
    ...marked('-', before.slice(start, end)),
    ...marked('+', `${head}${replacement}${tail}`),
  ].join('\n');
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function marked(sign: '-' | '+', text: string): string[] {
  const lines = text.split('\n').map((line) => `${sign}${line}`);
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), `${sign}[cut: ${MOST_LINES} of ${lines.length} lines]`];
}
