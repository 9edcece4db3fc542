import type { PhrasingContent } from 'mdast';

/** What an HTML tag means where it is one of the few that Markdown has no sign for. */
export type Tag = 'underline' | 'end' | 'break';

const OPENING: ReadonlyMap<string, string> = new Map([
  ['<u>', '</u>'],
  ['<ins>', '</ins>'],
]);
const CLOSING: ReadonlySet<string> = new Set(OPENING.values());
const NO_TAGS: ReadonlyMap<PhrasingContent, Tag> = new Map();
const BREAK = /^<br\s*\/?>$/i;

/** Whether this HTML is a line break. */
export function isBreak(html: string): boolean {
  return BREAK.test(html);
}

/**
 * The tags among these siblings that mean something: line breaks, and underlines that begin and end
 * here, properly nested. All other HTML is text.
 */
export function readTags(siblings: readonly PhrasingContent[]): ReadonlyMap<PhrasingContent, Tag> {
  if (!siblings.some(({ type }) => type === 'html')) return NO_TAGS;
  const tags = new Map<PhrasingContent, Tag>();
  const open: { readonly node: PhrasingContent; readonly ends: string }[] = [];
  const waiting = new Map<string, number>();
  const count = (tag: string, change: number) => {
    waiting.set(tag, (waiting.get(tag) ?? 0) + change);
  };
  for (const node of siblings) {
    if (node.type !== 'html') continue;
    const html = node.value.toLowerCase();
    const ends = OPENING.get(html);
    if (isBreak(html)) tags.set(node, 'break');
    else if (ends !== undefined) {
      open.push({ node, ends });
      count(ends, 1);
    } else if (CLOSING.has(html) && (waiting.get(html) ?? 0) > 0) {
      let last = open.pop();
      for (; last !== undefined && last.ends !== html; last = open.pop()) count(last.ends, -1);
      if (last === undefined) continue;
      count(html, -1);
      tags.set(last.node, 'underline').set(node, 'end');
    }
  }
  return tags;
}
