import { escapeText } from '@parley/simulators/draw';
import type { ListItem, Nodes, Table, TableRow } from 'mdast';
import {
  parseGfm,
  parseTeams,
  readGfm,
  readTeams,
} from '../../conformance/markup/read-common-mark.ts';
import type { GalleryScreen } from './bubble.ts';

/**
 * A comment on GitHub, on a phone; Linear is similar. Text that would ping people counts as
 * refused.
 */
export const GITHUB: GalleryScreen = {
  id: 'github',
  name: 'GitHub',
  target: { dialect: 'gfm', maxLength: 65_536, unit: 'utf16' },
  draw: ({ text }) => {
    readGfm(text);
    return { html: drawChildren(parseGfm(text)), length: text.length };
  },
};

/** Teams on a phone. Unsupported markup counts as refused. */
export const TEAMS: GalleryScreen = {
  id: 'teams',
  name: 'Teams',
  target: { dialect: 'teams', maxLength: 12_000, unit: 'utf16' },
  draw: ({ text }) => {
    readTeams(text);
    return { html: drawChildren(parseTeams(text)), length: text.length };
  },
};

const TAGS = { paragraph: 'p', blockquote: 'blockquote', strong: 'b', emphasis: 'i', delete: 's' };

function drawChildren({ children }: { readonly children: readonly Nodes[] }): string {
  return children.map(drawNode).join('');
}

function drawNode(node: Nodes): string {
  switch (node.type) {
    case 'text':
      return escapeText(node.value);
    case 'break':
    case 'html':
      return '<br>';
    case 'inlineCode':
      return `<code>${escapeText(node.value)}</code>`;
    case 'code':
      return `<pre>${escapeText(node.value)}</pre>`;
    case 'thematicBreak':
      return '<hr>';
    case 'heading':
      return `<h${node.depth}>${drawChildren(node)}</h${node.depth}>`;
    case 'link':
      return `<span class="link" title="${escapeText(node.url)}">${drawChildren(node)}</span>`;
    case 'list': {
      const items = node.children.map(drawItem).join('');
      return node.ordered ? `<ol start="${node.start ?? 1}">${items}</ol>` : `<ul>${items}</ul>`;
    }
    case 'table':
      return drawTable(node);
    case 'paragraph':
    case 'blockquote':
    case 'strong':
    case 'emphasis':
    case 'delete':
      return `<${TAGS[node.type]}>${drawChildren(node)}</${TAGS[node.type]}>`;
    default:
      throw new Error(`unexpected ${node.type}`);
  }
}

function drawItem({ checked, spread, children }: ListItem): string {
  const box =
    typeof checked === 'boolean' ? `<input type="checkbox"${checked ? ' checked' : ''}> ` : '';
  const content = children.map((child) => {
    return child.type === 'paragraph' && spread !== true ? drawChildren(child) : drawNode(child);
  });
  return `<li>${box}${content.join('')}</li>`;
}

function drawTable({ children, align }: Table): string {
  const drawRow = (row: TableRow, tag: 'th' | 'td') => {
    const cells = row.children.map((cell, column) => {
      return `<${tag} class="${align?.[column] ?? ''}">${drawChildren(cell)}</${tag}>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  };
  const rows = children.map((row, index) => drawRow(row, index === 0 ? 'th' : 'td'));
  return `<div class="table-box"><table>${rows.join('')}</table></div>`;
}
