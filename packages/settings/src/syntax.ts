import type { LineCounter, YAMLError } from 'yaml';
import type { SettingsProblem } from './problem.ts';
import { maskLine } from './secret-names.ts';

/** Says what the YAML parser met, where, with the line and a caret below the place. */
export function syntaxProblem(error: YAMLError, text: string, lines: LineCounter): SettingsProblem {
  const { line, col } = lines.linePos(error.pos[0]);
  return {
    kind: 'syntax',
    path: '',
    position: { line, column: col },
    expected: explain(error),
    excerpt: excerpt(text, line, col),
  };
}

/** The line before, the line, and a caret; long lines are cut around the column, secrets are dots. */
function excerpt(text: string, line: number, column: number): string {
  const all = text.split(/\r?\n/);
  const from = Math.max(0, column - 60);
  const shown = [line - 1, line].filter((number) => number >= 1);
  const width = String(line).length;
  const rows = shown.map((number) => {
    const content = printable(maskLine(all[number - 1] ?? '')).slice(from, from + 100);
    return `${String(number).padStart(width)} | ${content}`;
  });
  return [...rows, `${' '.repeat(width)} | ${' '.repeat(column - 1 - from)}^`].join('\n');
}

/** Control characters would move the caret, or the terminal. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, ' ');
}

function explain(error: YAMLError): string {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'spaces for indentation; YAML does not allow tabs';
    case 'DUPLICATE_KEY':
      return 'each key once in its block; this one is written twice';
    case 'BAD_INDENT':
      return `the same indentation for all keys of a block (${lowerFirst(error.message)})`;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'one `key: value` a line; quote a value that contains a colon and a space';
    case 'MULTIPLE_DOCS':
      return 'one document; remove the line `---` in the middle';
    default:
      return `valid YAML (${lowerFirst(error.message)})`;
  }
}

function lowerFirst(message: string): string {
  const sentence = message.split('\n')[0] ?? '';
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
