/** Longest arguments that people are shown, in characters: what fits on a telephone. */
const SHOWN = 1_500;

/**
 * The arguments of a call as people are shown them. Signs that cannot be seen, or that turn what
 * follows around, are written out, so that nobody says yes to something else than they read.
 */
export function shownArguments(input: unknown): string {
  const text = written(input);
  const characters = [...text];
  if (characters.length <= SHOWN) return text;
  const half = SHOWN / 2;
  const hidden = characters.length - SHOWN;
  const [head, tail] = [characters.slice(0, half).join(''), characters.slice(-half).join('')];
  return `${head}\n… ${hidden} characters are not shown here …\n${tail}`;
}

/** Whether people are shown all of these arguments. */
export function isShownWhole(input: unknown): boolean {
  return [...written(input)].length <= SHOWN;
}

function written(input: unknown): string {
  return JSON.stringify(input, null, 2).replace(/[^\P{C}\n]|[\u2028\u2029]/gu, escaped);
}

function escaped(sign: string): string {
  return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A block of code that its content cannot end. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
