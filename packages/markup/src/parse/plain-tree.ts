import type { Paragraph, Root } from 'mdast';

/*
 * Most answers in a chat are a few sentences without any mark, and the parser takes long to find out.
 * Everything here stands for itself wherever it stands in a paragraph, and no line begins or ends with
 * anything that could open another block or a hard break.
 */
const LETTER = 'A-Za-z\\u00c0-\\u024f\\u0400-\\u04ff\\u4e00-\\u9fff';
const LINE = `[${LETTER}](?:[${LETTER}0-9 .,;:?!'"()%/+\\u2013\\u2014\\u2018-\\u201e\\u2026\\u3002\\uff0c-]*[${LETTER}0-9.,;:?!'")%\\u3002])?`;
const PLAIN = new RegExp(`^${LINE}(?:\\n\\n?${LINE})*$`);
/** Where GFM may find an address. */
const ADDRESS = /:\/\/|www\./i;

/** What the parser makes of plain paragraphs; undefined for all other Markdown. */
export function plainTree(markdown: string): Root | undefined {
  if (!PLAIN.test(markdown) || ADDRESS.test(markdown)) return undefined;
  const children: Paragraph[] = [];
  let line = 1;
  let offset = 0;
  for (const value of markdown.split('\n\n')) {
    const lines = value.split('\n');
    const start = { line, column: 1, offset };
    line += lines.length - 1;
    offset += value.length;
    const end = { line, column: 1 + (lines.at(-1) ?? '').length, offset };
    const text = {
      type: 'text',
      value,
      position: { start: { ...start }, end: { ...end } },
    } as const;
    children.push({ type: 'paragraph', children: [text], position: { start, end } });
    line += 2;
    offset += 2;
  }
  const end = children.at(-1)?.position?.end ?? { line: 1, column: 1, offset: 0 };
  return {
    type: 'root',
    children,
    position: { start: { line: 1, column: 1, offset: 0 }, end: { ...end } },
  };
}
