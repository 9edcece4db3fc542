import type { Leaf } from './document.ts';

/** Length of the text of these leaves alone, in UTF-16 units: a cheap lower bound of every printed form. */
export function contentLength(leaves: readonly Leaf[]): number {
  let length = 0;
  for (const leaf of leaves) for (const text of contentOf(leaf)) length += text.length;
  return length;
}

/** Whether people would see anything of it; platforms refuse a message in which they would not. */
export function isVisible(leaf: Leaf): boolean {
  const showsMarker = leaf.within.some(({ type }, at) => type === 'item' && at >= leaf.fresh);
  return leaf.kind === 'rule' || showsMarker || contentOf(leaf).some(hasVisible);
}

function contentOf(leaf: Leaf): string[] {
  switch (leaf.kind) {
    case 'text':
      return leaf.runs.map(({ text }) => text);
    case 'code':
      return [leaf.text];
    case 'grid':
      return [...leaf.header, ...leaf.rows];
    case 'table':
      return [leaf.header, ...leaf.rows].flat(2).map(({ text }) => text);
    case 'rule':
      return [];
  }
}

function hasVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text);
}
