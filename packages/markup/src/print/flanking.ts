import { ZERO_WIDTH_SPACE } from './invisible.ts';

/** The characters that begin or end a mark of CommonMark. */
export type Delimiter = '*' | '**' | '~~';

export interface Delimiters {
  /** Innermost first. */
  readonly closing: readonly Delimiter[];
  /** Outermost first. */
  readonly opening: readonly Delimiter[];
}

/**
 * Writes delimiters between two texts so that each of them ends or begins its mark. In CommonMark
 * the characters on both sides decide: next to punctuation inside a mark there must be whitespace
 * or punctuation outside, as in `**a.** b`. In other positions, as in `**a.**b`, an invisible
 * character is added inside the mark after the punctuation.
 * @param before the character before; empty at the start of a line.
 * @param after the character after; empty at the end of a line.
 */
export function writeDelimiters(
  { closing, opening }: Delimiters,
  before: string,
  after: string,
): string {
  const closers = closing.join('');
  const openers = opening.join('');
  // The end of one mark would merge with the start of the next.
  const merges = closers !== '' && closers.at(-1) === openers[0];
  const separator = merges ? ZERO_WIDTH_SPACE : '';
  const afterClosers = separator || openers[0] || after;
  const beforeOpeners = separator || closers.at(-1) || before;
  return (
    writeClosers(splitByCharacter(closers), before, afterClosers) +
    separator +
    writeOpeners(splitByCharacter(openers), beforeOpeners, after)
  );
}

/** Delimiters of the same character count together. */
function splitByCharacter(delimiters: string): string[] {
  return delimiters.match(/\*+|~+/g) ?? [];
}

function writeClosers(runs: readonly string[], before: string, after: string): string {
  let written = '';
  let outside = after;
  for (const [index, run] of [...runs.entries()].reverse()) {
    const inside = runs[index - 1]?.at(-1) ?? before;
    const isCut = canBePunctuation(inside) && !isBoundaryCharacter(outside);
    written = (isCut ? ZERO_WIDTH_SPACE : '') + run + written;
    outside = isCut ? ZERO_WIDTH_SPACE : (run[0] ?? '');
  }
  return written;
}

function writeOpeners(runs: readonly string[], before: string, after: string): string {
  let written = '';
  let outside = before;
  for (const [index, run] of runs.entries()) {
    const inside = runs[index + 1]?.[0] ?? after;
    const isCut = canBePunctuation(inside) && !isBoundaryCharacter(outside);
    written += run + (isCut ? ZERO_WIDTH_SPACE : '');
    outside = isCut ? ZERO_WIDTH_SPACE : (run.at(-1) ?? '');
  }
  return written;
}

/** Newer versions of CommonMark count symbols as punctuation, too. */
function canBePunctuation(character: string): boolean {
  return /[\p{P}\p{S}]/u.test(character);
}

/** Whether the character is whitespace or punctuation in every version of CommonMark. */
function isBoundaryCharacter(character: string): boolean {
  return character === '' || /[\s\p{P}$+<=>^`|~]/u.test(character);
}
