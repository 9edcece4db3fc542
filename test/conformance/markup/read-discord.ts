import {
  parseDiscordMarkdown,
  type RunFormat,
  type ViolationKind,
} from '@parley/simulators/discord';
import type { Format } from './expected.ts';
import type { TextStretch } from './seen.ts';

const FORMATS: readonly Format[] = [
  'bold',
  'italic',
  'underline',
  'strike',
  'spoiler',
  'code',
  'link',
];

/**
 * A leftover table or heading would show up as unexpected characters; bullets alone do not count as
 * empty.
 */
const ELSEWHERE: readonly ViolationKind[] = ['table', 'deep-heading', 'empty'];

/**
 * Reads one Discord message as its clients show it.
 * @throws Error if the message would look broken in Discord, or ping people.
 */
export function readDiscord(text: string): TextStretch[] {
  const { runs, violations } = parseDiscordMarkdown(text);
  const violation = violations.find(({ kind }) => !ELSEWHERE.includes(kind));
  if (violation !== undefined) throw new Error(`${violation.kind}: ${violation.where}`);
  return runs.flatMap(({ marker, text: shown, formats, link }): TextStretch[] => [
    ...(marker === '' ? [] : [{ text: marker, formats: new Set<Format>() }]),
    {
      text: shown,
      formats: new Set([...formats].filter(isKnown)),
      ...(link === undefined ? {} : { link }),
    },
  ]);
}

function isKnown(format: RunFormat): format is RunFormat & Format {
  return format.startsWith('language-') || FORMATS.some((known) => known === format);
}
