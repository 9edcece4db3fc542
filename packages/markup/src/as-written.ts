import { hasLiteralText, type RenderTarget, splitLiteralText } from '@parley/core';
import type { RenderedPart } from './rendered-part.ts';

/** The maximum number of bytes that a UTF-16 unit takes. */
const BYTES = 3;

/**
 * Markdown for a program with its own renderer is unchanged, character for character, so that a
 * growing answer is only appended to. Text longer than a part is cut at a line end if possible.
 */
export function renderMarkdownUnchanged(
  source: string,
  { maxLength, unit }: RenderTarget,
): RenderedPart[] {
  const markdown = hasLiteralText(source) ? escapeLiteralText(source) : source;
  const longest = unit === 'byte' ? Math.floor(maxLength / BYTES) : maxLength;
  const parts: RenderedPart[] = [];
  for (let rest = markdown; rest.trim() !== ''; ) {
    const end = rest.length <= longest ? rest.length : findSplitPoint(rest, longest);
    const text = rest.slice(0, end);
    if (text.trim() !== '') parts.push({ text, plain: text });
    rest = rest.slice(end);
  }
  return parts;
}

/**
 * Literal text as Markdown for that program, escaped by CommonMark's rules, because its own rules
 * are unknown.
 */
function escapeLiteralText(source: string): string {
  return splitLiteralText(source)
    .map((piece, at) => (at % 2 === 0 ? piece : piece.replace(/[!-/:-@[-`{-~\n]/g, '\\$&')))
    .join('');
}

function findSplitPoint(text: string, longest: number): number {
  const line = text.lastIndexOf('\n', longest - 1) + 1;
  if (line > longest / 2) return line;
  // A part must not end between the halves of a surrogate pair.
  return /[\uD800-\uDBFF]/.test(text.charAt(longest - 1)) ? longest - 1 : longest;
}
