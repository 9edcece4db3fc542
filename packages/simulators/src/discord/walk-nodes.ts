import type { DiscordNode } from './markdown-node.ts';

/** Every node of a tree, parents first. */
export function* allNodes(tree: readonly DiscordNode[]): Generator<DiscordNode> {
  for (const node of tree) {
    yield node;
    if ('children' in node) yield* allNodes(node.children);
    if (node.type === 'list') for (const item of node.items) yield* allNodes(item);
  }
}

/** The same tree with neighbouring plain texts as one node each. */
export function joinTexts(tree: readonly DiscordNode[]): DiscordNode[] {
  const joined: DiscordNode[] = [];
  for (const node of tree) {
    const last = joined.at(-1);
    if (isPlain(node) && last !== undefined && isPlain(last)) {
      joined[joined.length - 1] = { type: 'text', text: last.text + node.text };
    } else if (node.type === 'list') {
      joined.push({ ...node, items: node.items.map(joinTexts) });
    } else {
      joined.push('children' in node ? { ...node, children: joinTexts(node.children) } : node);
    }
  }
  return joined;
}

function isPlain(node: DiscordNode): node is Extract<DiscordNode, { type: 'text' }> {
  return node.type === 'text' && node.escaped === undefined;
}
