/**
 * During parsing, punctuation in formulas is replaced by these private-use characters, which have
 * no meaning in Markdown.
 */
const MASK = 0xe100;
const MASKED = /[\ue121-\ue17e]/g;

/** Finds `\(…\)`, `\[…\]`, `$$…$$` and `$…$` (by pandoc's rule) outside code spans and escapes. */
const MATHS = new RegExp(
  [
    '(?<!`)(`+)(?!`)[^]*?(?<!`)\\1(?!`)',
    '(\\\\\\((?:\\\\[^)`]|[^\\\\`])*?\\\\\\)|\\\\\\[(?:\\\\[^\\]`]|[^\\\\`])*?\\\\\\])',
    '\\\\[^]',
    '((?<![\\p{L}\\p{N}$])\\$\\$(?!\\$)(?:\\\\[^`]|[^\\\\`])+?(?<!\\$)\\$\\$(?![\\p{L}\\p{N}$]))',
    '((?<![\\p{L}\\p{N}$])\\$(?![ \\n\\t$])(?:\\\\[^`]|[^\\\\`])*?(?<![ \\n\\t\\\\])\\$(?![\\p{L}\\p{N}$]))',
  ].join('|'),
  'gu',
);

/** Escaped brackets that are not a formula: words in them, a number, the `x` of a checkbox. */
const ESCAPED = /^\\(?:\[\s*\p{L}\s*|.(?=[\s\S]*\p{L}{2}|\P{L}*$)[\p{L}\p{N}\s.,:;!?'’-]*)\\.$/u;

/** The positions of formulas in the source of a paragraph. */
export function findInlineMath(source: string): { start: number; end: number }[] {
  return [...source.matchAll(MATHS)].flatMap(
    ({ 0: text, 2: brackets, 3: display, 4: inline, index }) => {
      const end = index + text.length;
      const isEscaped = ESCAPED.test(text) || (text.endsWith('\\]') && source[end] === '(');
      const isMaths = brackets === undefined ? (display ?? inline) : !isEscaped;
      return isMaths ? [{ start: index, end }] : [];
    },
  );
}

/** The text with all punctuation at these positions masked. */
export function maskSpans(text: string, spans: readonly { start: number; end: number }[]): string {
  let out = '';
  let from = 0;
  for (const { start, end } of spans) {
    out += text.slice(from, start) + maskLines(text.slice(start, end));
    from = end;
  }
  return out + text.slice(from);
}

/** Quote marks at the start of a line belong to the document. */
function maskLines(maths: string): string {
  return maths
    .split('\n')
    .map((line, index) => {
      const prefix = index === 0 ? '' : (/^[> \t]*/.exec(line)?.[0] ?? '');
      return prefix + maskPunctuation(line.slice(prefix.length));
    })
    .join('\n');
}

function maskPunctuation(text: string): string {
  return text.replaceAll(/[!-/:-@[-`{-~]/g, (character) =>
    character === '$' ? character : String.fromCharCode(MASK + character.charCodeAt(0)),
  );
}

/** Restores the original text from masked text. */
export function unmaskText(text: string): string {
  return text.replaceAll(MASKED, (character) =>
    String.fromCharCode(character.charCodeAt(0) - MASK),
  );
}
