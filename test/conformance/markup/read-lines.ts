import {
  type FormattedLine,
  type MarkedMessage,
  type TextFormat,
  toLineRuns,
} from '@parley/simulators/formatting';
import type { Format } from './expected.ts';
import type { TextStretch } from './seen.ts';

const FORMAT: Readonly<Partial<Record<TextFormat, Format>>> = {
  bold: 'bold',
  italic: 'italic',
  strike: 'strike',
  code: 'code',
  monospace: 'code',
};

/** The visible text of these lines. */
export function toStretches(lines: readonly FormattedLine[]): TextStretch[] {
  return lines.flatMap((line, index): TextStretch[] => {
    const added = line.kind === 'bullet' ? '•' : line.kind === 'number' ? line.number : '';
    const lineEnd = { text: `${index === 0 ? '' : '\n'}${added}`, formats: new Set<Format>() };
    const runs = toLineRuns(line).map(({ text: written, formats, link }): TextStretch => {
      // The line ends next to the fences of a block are not shown.
      const text = formats.includes('monospace') ? written.replace(/^\n|\n$/g, '') : written;
      const own = new Set(formats.flatMap((format) => FORMAT[format] ?? []));
      return link === undefined ? { text, formats: own } : { text, formats: own.add('link'), link };
    });
    return [lineEnd, ...runs];
  });
}

/**
 * Reads one message of Slack or Google Chat.
 * @param parse the platform's strict parser.
 * @throws Error if the message would look different in some client, or notify people.
 */
export function readMarked(text: string, parse: (text: string) => MarkedMessage): TextStretch[] {
  const { lines, violations } = parse(text);
  const [violation] = violations;
  if (violation !== undefined) throw new Error(`${violation.kind}: ${violation.text}`);
  return toStretches(lines);
}
