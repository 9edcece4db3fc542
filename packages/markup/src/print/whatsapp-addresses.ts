/** Part of a line that no mark may touch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Addresses of a line up to the next white space or backtick, since a client may take everything in:
 * with a scheme, with `www.`, or a bare host with a path, which clients link too.
 * @param codes code in the line, in order; addresses in it are code.
 */
export function findAddresses(text: string, codes: readonly Span[]): Span[] {
  if (!text.includes('/') && !text.includes('www.')) return [];
  const spans: Span[] = [];
  let code = 0;
  for (const { index, 0: word } of text.matchAll(/[^\s`]+/g)) {
    const start = startInWord(word);
    if (start === undefined) continue;
    const from = index + start;
    while ((codes[code]?.to ?? Number.POSITIVE_INFINITY) <= from) code += 1;
    const inCode = (codes[code]?.from ?? Number.POSITIVE_INFINITY) <= from;
    if (!inCode) spans.push({ from, to: index + word.length });
  }
  return spans;
}

function startInWord(word: string): number | undefined {
  const scheme = word.search(/https?:\/\/|www\./i);
  if (scheme >= 0) return scheme;
  for (let slash = word.indexOf('/'); slash >= 0; slash = word.indexOf('/', slash + 1)) {
    const start = hostBefore(word, slash);
    if (start !== undefined) return start;
  }
  return undefined;
}

function hostBefore(word: string, slash: number): number | undefined {
  let start = slash;
  while (start > 0 && /[a-z0-9.-]/i.test(word[start - 1] ?? '')) start -= 1;
  const host = word.slice(start, slash);
  const dot = host.lastIndexOf('.');
  return dot > 0 && /^[a-z]{2,}$/i.test(host.slice(dot + 1)) ? start : undefined;
}
