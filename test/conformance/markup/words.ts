import type { ExpectedItem } from './expected.ts';
import type { TextStretch } from './seen.ts';

type PartStretches = readonly (readonly TextStretch[])[];

/** The generated words that must be visible, sorted. */
export function listExpectedWords(content: readonly ExpectedItem[]): string[] {
  return listSortedWords(joinAllText(content).replaceAll(/\s/g, ''));
}

/** Whether all results show the same generated words, equally often. */
export function matchesWords(words: readonly string[], ...seen: readonly PartStretches[]): boolean {
  const expected = words.join(' ');
  return seen.every((parts) => {
    const text = parts.flatMap((stretches) => stretches.map((stretch) => stretch.text)).join('');
    return listSortedWords(text.replaceAll(/[\s>]/g, '')).join(' ') === expected;
  });
}

function listSortedWords(text: string): string[] {
  return (text.match(/w\d+w/g) ?? []).sort();
}

function joinAllText(content: readonly ExpectedItem[]): string {
  return content
    .map((item) => {
      switch (item.kind) {
        case 'text':
        case 'maybe':
          return item.text;
        case 'table':
          return [...item.header, ...item.rows.flat()].map(joinAllText).join(' ');
        case 'marker':
        case 'rule':
          return ' ';
        default:
          return joinAllText(item.content);
      }
    })
    .join('');
}
