import type { Run } from '../document.ts';
import { sameMark } from './join-runs.ts';

const BARS = '||';

/** Bars in a literal run are text. */
interface SpoilerSource extends Run {
  readonly literal?: true;
}

interface Place {
  readonly run: number;
  readonly at: number;
}

/**
 * `||hidden||` becomes a spoiler. As strict as emphasis (bars touch the hidden text and stand free
 * outside), because `a || b || c` in an answer about code must stay what it is.
 */
export function markSpoilers(runs: readonly SpoilerSource[]): Run[] {
  if (!runs.some(({ text }) => text.includes(BARS))) return [...runs];
  const bars = placesOfBars(runs);
  const marked: Run[] = [];
  let from: Place = { run: 0, at: 0 };
  let index = 0;
  while (index + 1 < bars.length) {
    const open = bars[index];
    const close = bars[index + 1];
    if (open === undefined || close === undefined) break;
    if (!opens(runs, open) || !closes(runs, close)) {
      index += 1;
      continue;
    }
    marked.push(...between(runs, from, open));
    const inside = { run: open.run, at: open.at + BARS.length };
    const outer = commonMarks(runs.slice(open.run, close.run + 1));
    marked.push(
      ...between(runs, inside, close).map(({ text, marks }) => ({
        text,
        marks: [...marks.slice(0, outer), { type: 'spoiler' as const }, ...marks.slice(outer)],
      })),
    );
    from = { run: close.run, at: close.at + BARS.length };
    index += 2;
  }
  const end = { run: runs.length, at: 0 };
  return [...marked, ...between(runs, from, end)].filter(({ text }) => text !== '');
}

/** How many marks all these runs share: a spoiler stands inside them and round all others. */
function commonMarks(runs: readonly Run[]): number {
  const [first, ...others] = runs.map(({ marks }) => marks);
  const differs = first?.findIndex((mark, at) =>
    others.some((marks) => !sameMark(mark, marks[at])),
  );
  return differs === undefined || differs < 0 ? (first?.length ?? 0) : differs;
}

function placesOfBars(runs: readonly SpoilerSource[]): Place[] {
  return runs.flatMap(({ text, marks, literal }, run) => {
    if (literal || marks.some(({ type }) => type === 'code' || type === 'link')) return [];
    const places: Place[] = [];
    for (let at = text.indexOf(BARS); at >= 0; at = text.indexOf(BARS, at + BARS.length)) {
      places.push({ run, at });
    }
    return places;
  });
}

function opens(runs: readonly Run[], { run, at }: Place): boolean {
  return isFree(charBefore(runs, run, at)) && !isSpace(charAt(runs, run, at + BARS.length));
}

function closes(runs: readonly Run[], { run, at }: Place): boolean {
  return !isSpace(charBefore(runs, run, at)) && isFree(charAt(runs, run, at + BARS.length));
}

function charAt(runs: readonly Run[], run: number, at: number): string | undefined {
  return runs[run]?.text[at] ?? runs[run + 1]?.text[0];
}

function charBefore(runs: readonly Run[], run: number, at: number): string | undefined {
  return at > 0 ? runs[run]?.text[at - 1] : runs[run - 1]?.text.at(-1);
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || character.trim() === '';
}

function isFree(character: string | undefined): boolean {
  return character === undefined || !/[\p{L}\p{N}|]/u.test(character);
}

function between(runs: readonly Run[], from: Place, to: Place): Run[] {
  return runs.slice(from.run, to.run + 1).map(({ text, marks }, index) => {
    const run = from.run + index;
    const start = run === from.run ? from.at : 0;
    const end = run === to.run ? to.at : text.length;
    return { text: text.slice(start, end), marks };
  });
}
