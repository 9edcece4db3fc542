import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** The visible text of GitHub Flavored Markdown: text without markup, one line per block. */
export function toVisibleMarkdown(markdown: string): string {
  const tree = fromMarkdown(markdown, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  return toVisibleText(tree).trim();
}

function toVisibleText(node: Nodes): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return node.value;
    case 'code':
      return `${node.value}\n`;
    case 'image':
      return node.alt ?? '';
    case 'break':
    case 'thematicBreak':
      return '\n';
    // HTML tags are omitted, whatever their effect.
    case 'html':
    case 'definition':
      return '';
    case 'tableRow':
      return `${node.children.map(toVisibleText).join('  ')}\n`;
    case 'paragraph':
    case 'heading':
      return `${node.children.map(toVisibleText).join('')}\n`;
    default:
      return 'children' in node ? node.children.map(toVisibleText).join('') : '';
  }
}
