import type { Inline } from './build-inlines.ts';
import type { FormattedLine } from './parse-formatting.ts';

/** What a stretch of text is shown as. */
export type Format =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'code'
  | 'monospace'
  | 'quote'
  | 'bullet'
  | 'number';

/** Text with one set of formats, outermost first. */
export interface FormatRun {
  readonly text: string;
  readonly formats: readonly Format[];
}

/** The runs of one line. */
export function lineRuns(line: FormattedLine): FormatRun[] {
  const formats: Format[] = line.kind === 'paragraph' ? [] : [line.kind];
  return line.children.flatMap((child) => inlineRuns(child, formats));
}

function inlineRuns(inline: Inline, formats: readonly Format[]): FormatRun[] {
  switch (inline.type) {
    case 'text':
    case 'url':
      return [{ text: inline.text, formats }];
    case 'code':
    case 'monospace':
      return [{ text: inline.text, formats: [...formats, inline.type] }];
    default: {
      const inside = [...formats, inline.type];
      return inline.children.flatMap((child) => inlineRuns(child, inside));
    }
  }
}

/** What people see of all lines. */
export function visibleText(lines: readonly FormattedLine[]): string {
  return lines
    .map((line) => {
      const text = lineRuns(line)
        .map((run) => run.text)
        .join('');
      if (line.kind === 'bullet') return `• ${text}`;
      return line.kind === 'number' ? `${line.number} ${text}` : text;
    })
    .join('\n');
}
