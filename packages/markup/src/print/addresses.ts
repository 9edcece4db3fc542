import type { TextRun } from '../document.ts';
import { containsUrl, findLink } from '../transform/runs.ts';

/** A URL with each of these characters percent-encoded. */
export function percentEncode(url: string, characters: RegExp): string {
  return url.replaceAll(characters, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

/**
 * Removes links that a platform cannot show; their URLs follow in parentheses, unless the text is
 * the URL.
 */
export function spellOutLinksUnless(
  runs: readonly TextRun[],
  isFit: (text: string, url: string) => boolean,
): readonly TextRun[] {
  if (!runs.some((run) => findLink(run) !== undefined)) return runs;
  const out: TextRun[] = [];
  for (let at = 0; at < runs.length; ) {
    const link = findLink(runs[at]);
    let end = at + 1;
    while (end < runs.length && findLink(runs[end]) === link) end += 1;
    const own = runs.slice(at, end);
    const text = own.map((run) => run.text).join('');
    if (link === undefined || isFit(text, link.url)) out.push(...own);
    else {
      out.push(...own.map((run) => ({ ...run, marks: run.marks.filter((mark) => mark !== link) })));
      if (!containsUrl(text, link.url)) out.push(...formatInParentheses(link.url));
    }
    at = end;
  }
  return out;
}

/** The URL is a link to itself. */
function formatInParentheses(url: string): TextRun[] {
  return [
    { text: ' (', marks: [] },
    { text: url, marks: [{ type: 'link', url }] },
    { text: ')', marks: [] },
  ];
}
