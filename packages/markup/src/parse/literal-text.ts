import { hasLiteral, shownLiteral, splitLiteral } from '@parley/core';
import type { Nodes, Parents, PhrasingContent, Root } from 'mdast';

/**
 * Puts literal text (`literal` of the core), whose special characters the parser has not seen, into
 * the tree unchanged.
 * @param source the parsed text.
 */
export function placeLiteralText(root: Root, source: string): void {
  if (hasLiteral(source)) placeIn(root);
}

function placeIn(parent: Parents): void {
  const children: readonly Nodes[] = parent.children;
  for (const child of children) {
    showIn(child);
    if ('children' in child) placeIn(child);
  }
  if (!children.some(isMixed)) return;
  // The children of a parent that contains text are inlines.
  const inlines = children.flatMap((child): readonly Nodes[] =>
    isMixed(child) ? literalParts(child) : [child],
  );
  Object.assign(parent, { children: inlines });
}

function isMixed(node: Nodes): node is Extract<Nodes, { type: 'text' }> {
  return node.type === 'text' && hasLiteral(node.value);
}

function literalParts({ value }: { readonly value: string }): PhrasingContent[] {
  return splitLiteral(value).flatMap((piece, at): PhrasingContent[] => {
    if (piece === '') return [];
    return [{ type: at % 2 === 0 ? 'text' : 'literal', value: piece }];
  });
}

/** Code, URLs and names of pictures are text in any case. */
function showIn(node: Nodes): void {
  if (node.type === 'text') return;
  if ('value' in node) node.value = shownLiteral(node.value);
  if ('alt' in node && typeof node.alt === 'string') node.alt = shownLiteral(node.alt);
  if ('url' in node) node.url = shownLiteral(node.url);
}
