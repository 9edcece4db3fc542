import type { Expected } from './expected.ts';
import type { Stretch } from './seen.ts';

type Parts = readonly (readonly Stretch[])[];

/** The generated words that must be visible, sorted. */
export function expectedWords(content: readonly Expected[]): string[] {
  return sortedWords(allText(content).replaceAll(/\s/g, ''));
}

/** Whether all results show the same generated words, equally often. */
export function sameWords(words: readonly string[], ...seen: readonly Parts[]): boolean {
  const expected = words.join(' ');
  return seen.every((parts) => {
    const text = parts.flatMap((stretches) => stretches.map((stretch) => stretch.text)).join('');
    return sortedWords(text.replaceAll(/[\s>]/g, '')).join(' ') === expected;
  });
}

function sortedWords(text: string): string[] {
  return (text.match(/w\d+w/g) ?? []).sort();
}

function allText(content: readonly Expected[]): string {
  return content
    .map((item) => {
      switch (item.kind) {
        case 'text':
        case 'maybe':
          return item.text;
        case 'table':
          return [...item.header, ...item.rows.flat()].map(allText).join(' ');
        case 'marker':
        case 'rule':
          return ' ';
        default:
          return allText(item.content);
      }
    })
    .join('');
}
