import { type DiscordNode, parseDiscordMarkdown } from '@parley/simulators/discord';
import type { Screen } from './bubble.ts';
import { escapeText } from './escape.ts';

/** Discord on a phone. What would do more than show text counts as refused. */
export const DISCORD: Screen = {
  id: 'discord',
  name: 'Discord',
  target: { dialect: 'discord', maxLength: 2000, unit: 'utf16' },
  draw: ({ text, plain }) => {
    const { tree, violations } = parseDiscordMarkdown(text);
    // What people read in the plain text too, such as a broken table, was meant as it is.
    const first = violations.find(({ kind, where }) => kind !== 'table' || !plain.includes(where));
    if (first !== undefined) throw new Error(`${first.kind}: ${first.where}`);
    return { html: drawAll(tree), length: text.length };
  },
};

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

function drawAll(nodes: readonly DiscordNode[]): string {
  return nodes.map((node, index) => drawNode(node, nodes[index - 1])).join('');
}

function drawNode(node: DiscordNode, before: DiscordNode | undefined): string {
  switch (node.type) {
    case 'text':
      // The block before it has ended the line.
      return escapeText(before?.type === 'codeBlock' ? node.text.replace(/^\n/, '') : node.text);
    case 'emoji':
    case 'refusedLink':
      return escapeText(node.text);
    case 'heading':
      return `<div class="heading-${node.level}">${drawAll(node.children)}</div>`;
    case 'list':
      return drawList(node);
    case 'code':
      return `<code>${escapeText(node.text)}</code>`;
    case 'codeBlock':
      return `<pre>${escapeText(node.text)}</pre>`;
    case 'link':
      return `<span class="link" title="${escapeText(node.url)}">${drawAll(node.children)}</span>`;
    case 'live':
      return `<span class="live">${escapeText(node.text)}</span>`;
    default: {
      const [open, close] = TAGS[node.type];
      return open + drawAll(node.children) + close;
    }
  }
}

function drawList({ start, items }: Extract<DiscordNode, { type: 'list' }>): string {
  const lines = items.map((item) => `<li>${drawAll(item)}</li>`).join('');
  return start === undefined ? `<ul>${lines}</ul>` : `<ol start="${start}">${lines}</ol>`;
}
