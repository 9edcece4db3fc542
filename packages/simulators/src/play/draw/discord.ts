import type { DiscordNode } from '../../discord/markdown.ts';
import { escapeText } from './escape.ts';

/**
 * Renders a message as Discord shows it. `liveText` returns the text that the client inserts, such
 * as a name for `<@1>`.
 */
export function renderDiscord(
  nodes: readonly DiscordNode[],
  liveText: (source: string) => string = (source) => source,
): string {
  return nodes.map((node, index) => renderNode(node, nodes[index - 1], liveText)).join('');
}

const TAGS = {
  bold: ['<b>', '</b>'],
  italic: ['<i>', '</i>'],
  underline: ['<u>', '</u>'],
  strike: ['<s>', '</s>'],
  spoiler: ['<span class="hidden-text" tabindex="0">', '</span>'],
  quote: ['<blockquote><div>', '</div></blockquote>'],
  subtext: ['<small>', '</small>'],
  paragraph: ['<div>', '</div>'],
} as const;

function renderNode(
  node: DiscordNode,
  before: DiscordNode | undefined,
  liveText: (source: string) => string,
): string {
  const drawAll = (nodes: readonly DiscordNode[]) => renderDiscord(nodes, liveText);
  switch (node.type) {
    case 'text':
      // A code block already ends the line.
      return escapeText(before?.type === 'codeBlock' ? node.text.replace(/^\n/, '') : node.text);
    case 'emoji':
    case 'refusedLink':
      return escapeText(node.text);
    case 'heading':
      return `<div class="heading-${node.level}">${drawAll(node.children)}</div>`;
    case 'list':
      return renderList(node, drawAll);
    case 'code':
      return `<code>${escapeText(node.text)}</code>`;
    case 'codeBlock':
      return `<pre>${escapeText(node.text)}</pre>`;
    case 'link':
      return `<span class="link" title="${escapeText(node.url)}">${drawAll(node.children)}</span>`;
    case 'live':
      return `<span class="live">${escapeText(liveText(node.text))}</span>`;
    default: {
      const [open, close] = TAGS[node.type];
      return open + drawAll(node.children) + close;
    }
  }
}

function renderList(
  { start, items }: Extract<DiscordNode, { type: 'list' }>,
  drawAll: (nodes: readonly DiscordNode[]) => string,
): string {
  const lines = items.map((item) => `<li>${drawAll(item)}</li>`).join('');
  return start === undefined ? `<ul>${lines}</ul>` : `<ol start="${start}">${lines}</ol>`;
}
