import { decodeLiteralText, hasLiteralText, splitLiteralText } from '@parley/core';
import type { Nodes, Parents, PhrasingContent, Root } from 'mdast';

/**
 * Puts literal text (`literal` of the core), whose special characters were hidden from the parser,
 * into the tree unchanged.
 * @param source the parsed text.
 */
export function insertLiteralText(root: Root, source: string): void {
  if (hasLiteralText(source)) insertLiteralIntoParent(root);
}

function insertLiteralIntoParent(parent: Parents): void {
  const children: readonly Nodes[] = parent.children;
  for (const child of children) {
    decodeLiteralInNode(child);
    if ('children' in child) insertLiteralIntoParent(child);
  }
  if (!children.some(isMixedText)) return;
  // The children of a parent that contains text are inlines.
  const inlines = children.flatMap((child): readonly Nodes[] =>
    isMixedText(child) ? splitLiteralParts(child) : [child],
  );
  Object.assign(parent, { children: inlines });
}

function isMixedText(node: Nodes): node is Extract<Nodes, { type: 'text' }> {
  return node.type === 'text' && hasLiteralText(node.value);
}

function splitLiteralParts({ value }: { readonly value: string }): PhrasingContent[] {
  return splitLiteralText(value).flatMap((piece, at): PhrasingContent[] => {
    if (piece === '') return [];
    return [{ type: at % 2 === 0 ? 'text' : 'literal', value: piece }];
  });
}

/** Code, URLs and picture names are text in any case. */
function decodeLiteralInNode(node: Nodes): void {
  if (node.type === 'text') return;
  if ('value' in node) node.value = decodeLiteralText(node.value);
  if ('alt' in node && typeof node.alt === 'string') node.alt = decodeLiteralText(node.alt);
  if ('url' in node) node.url = decodeLiteralText(node.url);
}
