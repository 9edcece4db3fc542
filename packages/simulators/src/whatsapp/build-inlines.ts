import type { Found, Line } from './read-lines.ts';

/** A mark that can contain others. */
export type MarkType = 'bold' | 'italic' | 'strike';

/** Inline content; `text` never includes markers. */
export type Inline =
  | { readonly type: 'text' | 'url' | 'code' | 'monospace'; readonly text: string }
  | { readonly type: MarkType; readonly children: readonly Inline[] };

interface Node {
  readonly type: Inline['type'];
  readonly from: number;
  readonly to: number;
}

const MARKER_LENGTH = { monospace: 3, code: 1, url: 0, text: 0, bold: 1, italic: 1, strike: 1 };

/** Puts what was found in a line into a tree. Of marks that cross, the first one stays. */
export function buildInlines(text: string, line: Line, found: Found): Inline[] {
  const inLine = (node: Node) => node.from >= line.from && node.to <= line.to;
  const nodes: Node[] = [...found.opaque, ...found.pairs].filter(inLine);
  nodes.sort((a, b) => a.from - b.from || b.to - a.to);
  return build(text, line.from, line.to, nodes);
}

function build(text: string, from: number, to: number, nodes: readonly Node[]): Inline[] {
  const children: Inline[] = [];
  let at = from;
  const plain = (end: number) => {
    if (end > at) children.push({ type: 'text', text: text.slice(at, end) });
  };
  for (const [index, node] of nodes.entries()) {
    if (node.from < at || node.to > to) continue;
    plain(node.from);
    const width = MARKER_LENGTH[node.type];
    const inner = [node.from + width, node.to - width] as const;
    if (node.type === 'bold' || node.type === 'italic' || node.type === 'strike') {
      const rest = nodes.slice(index + 1).filter((other) => other.from < node.to);
      children.push({ type: node.type, children: build(text, ...inner, rest) });
    } else children.push({ type: node.type, text: text.slice(...inner) });
    at = node.to;
  }
  plain(to);
  return children;
}
