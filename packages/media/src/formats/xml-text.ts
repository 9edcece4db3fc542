/** What a tag puts into the text: `closing` for `</a:p>`, and for an empty element as well. */
export type Mark = (tag: string, closing: boolean) => string;

/** Which text of a document is wanted, by the names of elements. */
export interface WantedText {
  readonly inside: ReadonlySet<string>;
  /** What is within these is left out: neither text nor marks. */
  readonly except?: ReadonlySet<string>;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
/** What is no element, and how it ends. */
const OTHERS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const;

/**
 * The text inside some elements of an XML document, in its order. Enough for office files, whose text
 * stands in known elements; entities that a document defines itself are left as they are written. Takes
 * time and memory in proportion to the document, however it is nested or broken.
 */
export function xmlText(xml: string, { inside, except }: WantedText, mark: Mark): string {
  const pieces: string[] = [];
  let depth = 0;
  let left = 0;
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf('<', at);
    const textEnd = open === -1 ? xml.length : open;
    if (depth > 0 && left === 0 && textEnd > at) pieces.push(decoded(xml.slice(at, textEnd)));
    if (open === -1) break;
    const [start, end] = OTHERS.find(([begin]) => xml.startsWith(begin, open)) ?? ['<', '>'];
    const close = xml.indexOf(end, open + start.length);
    if (close === -1) break;
    at = close + end.length;
    const content = xml.slice(open + start.length, close);
    if (start === '<![CDATA[' && depth > 0 && left === 0) pieces.push(content);
    if (start !== '<') continue;
    const closing = content.startsWith('/');
    const empty = content.endsWith('/');
    const tag = /[\w:.-]+/.exec(content)?.[0] ?? '';
    const step = empty ? 0 : closing ? -1 : 1;
    if (except?.has(tag)) left += step;
    if (left > 0) continue;
    if (inside.has(tag)) depth += step;
    pieces.push(mark(tag, closing));
    if (empty) pieces.push(mark(tag, true));
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
