import { hasLiteral, restoreLiteral, splitLiteral } from '@parley/core';
import type { Nodes, Parents, PhrasingContent, Root } from 'mdast';

/**
 * Puts literal text (`literal` of the core), whose special characters were hidden from the parser,
 * into the tree unchanged.
 * @param source the parsed text.
 */
export function placeLiteralText(root: Root, source: string): void {
  if (hasLiteral(source)) placeLiteralIn(root);
}

function placeLiteralIn(parent: Parents): void {
  const children: readonly Nodes[] = parent.children;
  for (const child of children) {
    restoreLiteralIn(child);
    if ('children' in child) placeLiteralIn(child);
  }
  if (!children.some(isMixedText)) return;
  // The children of a parent that contains text are inlines.
  const inlines = children.flatMap((child): readonly Nodes[] =>
    isMixedText(child) ? splitLiteralParts(child) : [child],
  );
  Object.assign(parent, { children: inlines });
}

function isMixedText(node: Nodes): node is Extract<Nodes, { type: 'text' }> {
  return node.type === 'text' && hasLiteral(node.value);
}

function splitLiteralParts({ value }: { readonly value: string }): PhrasingContent[] {
  return splitLiteral(value).flatMap((piece, at): PhrasingContent[] => {
    if (piece === '') return [];
    return [{ type: at % 2 === 0 ? 'text' : 'literal', value: piece }];
  });
}

/** Code, URLs and picture names are text in any case. */
function restoreLiteralIn(node: Nodes): void {
  if (node.type === 'text') return;
  if ('value' in node) node.value = restoreLiteral(node.value);
  if ('alt' in node && typeof node.alt === 'string') node.alt = restoreLiteral(node.alt);
  if ('url' in node) node.url = restoreLiteral(node.url);
}
