import { isSpace, isWord, runAt } from './mark-sides.ts';

/**
 * Length of the end of a link from its `]` on: 1 if it is only a bracket.
 * @returns undefined if it is not decided or not complete yet.
 */
export function lengthOfLinkEnd(text: string, at: number): number | undefined {
  const next = text[at + 1];
  if (next === '(') return lengthOfAddress(text, at);
  if (next !== '[') return next === undefined ? undefined : 1;
  const end = text.indexOf(']', at + 2);
  return end < 0 ? undefined : end + 1 - at;
}

const TITLE_ENDS: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')' };

function lengthOfAddress(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') at += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return at + 1 - start;
    } else if (isSpace(character)) {
      while (isSpace(text[at + 1] ?? 'x')) at += 1;
      const next = text[at + 1];
      if (next === undefined) return undefined;
      if (next === ')') continue;
      // After a space only a title may follow; anything else is prose in brackets.
      const titleEnd = TITLE_ENDS[next];
      if (titleEnd === undefined) return 1;
      at = text.indexOf(titleEnd, at + 2);
      if (at < 0) return undefined;
    }
  }
  return undefined;
}

/** Whether this run of dollars may begin maths, by the parser's rule. */
export function opensMaths(text: string, at: number, run: string): boolean {
  if (run.length > 2 || isWord(text[at - 1] ?? '')) return false;
  return run.length === 2 || !isSpace(text[at + 1] ?? '');
}

/**
 * Length of the maths that begins with this run of dollars.
 * @returns undefined if no later dollars end it.
 */
export function lengthOfMaths(text: string, start: number, run: string): number | undefined {
  let end = text.indexOf('$', start + run.length);
  while (end >= 0) {
    const other = runAt(text, end);
    const touches = run.length === 2 || !isSpace(text[end - 1] ?? '');
    if (other === run && touches && !isWord(text[end + run.length] ?? '')) {
      return end + run.length - start;
    }
    end = text.indexOf('$', end + other.length);
  }
  return undefined;
}
