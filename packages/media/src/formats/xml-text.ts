/** What a tag puts into the text: `closing` for `</a:p>`, and for an empty element as well. */
export type Mark = (tag: string, closing: boolean) => string;

const PIECE =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<[?!][^>]*>|<(\/?)([\w:.-]+)[^>]*?(\/?)>|([^<]+)/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/**
 * The text inside some elements of an XML document, in its order. Enough for office files, whose text
 * stands in known elements; entities that a document defines itself are left as they are written.
 */
export function xmlText(xml: string, inside: ReadonlySet<string>, mark: Mark): string {
  const pieces: string[] = [];
  let depth = 0;
  for (const [, data, slash, tag, empty, text] of xml.matchAll(PIECE)) {
    if (tag !== undefined) {
      const closing = slash === '/';
      if (inside.has(tag) && empty !== '/') depth += closing ? -1 : 1;
      pieces.push(mark(tag, closing));
      if (empty === '/') pieces.push(mark(tag, true));
    } else if (depth > 0) pieces.push(data ?? decoded(text ?? ''));
  }
  return pieces.join('');
}

function decoded(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|\w{2,5});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name] ?? whole;
    const point = name[1]?.toLowerCase() === 'x' ? `0${name.slice(1)}` : name.slice(1);
    const code = Number(point);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
