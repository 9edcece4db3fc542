import type { Cell, Container, Leaf, Mark, Run, TableLeaf } from '../document.ts';
import { commonStart, type Printed, walkRuns } from './lines.ts';

const TAGS = {
  bold: ['<strong>', '</strong>'],
  italic: ['<em>', '</em>'],
  underline: ['<u>', '</u>'],
  strike: ['<del>', '</del>'],
  spoiler: ['<span class="spoiler">', '</span>'],
  code: ['<code>', '</code>'],
} as const;

/**
 * Prints HTML for a page under a strict content security policy: everything escaped, no styles, no
 * scripts, no remote pictures, only addresses the transform has allowed.
 */
export function printHtml(leaves: readonly Leaf[]): Printed {
  let text = '';
  let open: readonly Container[] = [];
  for (const leaf of leaves) {
    const common = commonStart(open, leaf.within).length;
    text += closeAll(open.slice(common));
    text += leaf.within
      .slice(common)
      .map((container, at) => openTag(container, common + at >= leaf.fresh))
      .join('');
    text += printLeaf(leaf);
    open = leaf.within;
  }
  text += closeAll(open);
  return { text, counted: text, entities: 0 };
}

function openTag(container: Container, begins: boolean): string {
  if (container.type === 'quote') return '<blockquote>';
  if (container.type === 'list') {
    if (container.start === undefined) return '<ul>';
    return '<ol>';
  }
  const { number, done, label } = container.marker;
  const value = number === undefined ? '' : ` value="${number}"`;
  const item = begins ? `<li${value}>` : '<li class="continued">';
  if (!begins) return item;
  // A footnote is known by its name and has no bullet.
  if (label !== undefined) return `<li class="continued">[${escapeHtml(label)}] `;
  if (done === undefined) return item;
  return `${item}<input type="checkbox" disabled${done ? ' checked' : ''}> `;
}

function closeAll(containers: readonly Container[]): string {
  return containers.toReversed().map(closeTag).join('');
}

function closeTag(container: Container): string {
  if (container.type === 'quote') return '</blockquote>';
  if (container.type === 'item') return '</li>';
  return container.start === undefined ? '</ul>' : '</ol>';
}

function printLeaf(leaf: Leaf): string {
  switch (leaf.kind) {
    case 'text':
      if (leaf.heading !== undefined) return wrap(`h${leaf.heading}`, inline(leaf.runs));
      return isItemText(leaf) ? inline(leaf.runs) : wrap('p', inline(leaf.runs));
    case 'code': {
      const language = languageClass(leaf.language);
      const attribute = language === undefined ? '' : ` class="${language}"`;
      return `<pre><code${attribute}>${escapeHtml(leaf.text)}</code></pre>`;
    }
    case 'grid':
      return `<pre>${escapeHtml([...leaf.header, ...leaf.rows].join('\n'))}</pre>`;
    case 'table':
      return printTable(leaf);
    case 'rule':
      return '<hr>';
  }
}

/** The first text of a list item is the item, not a paragraph in it. */
function isItemText(leaf: Leaf): boolean {
  return leaf.within.at(-1)?.type === 'item' && leaf.fresh < leaf.within.length;
}

function printTable({ header, rows, align }: TableLeaf): string {
  const row = (tag: 'th' | 'td', cells: readonly Cell[]) =>
    wrap(
      'tr',
      cells
        .map((cell, column) => {
          const side = align[column];
          return `<${tag}${side === undefined ? '' : ` class="${side}"`}>${inline(cell)}</${tag}>`;
        })
        .join(''),
    );
  const body = rows.map((cells) => row('td', cells)).join('');
  return wrap('table', wrap('thead', row('th', header)) + wrap('tbody', body));
}

function wrap(tag: string, content: string): string {
  return `<${tag}>${content}</${tag}>`;
}

function inline(runs: readonly Run[]): string {
  let text = '';
  walkRuns(runs, {
    open: (mark) => {
      text += openMark(mark);
    },
    close: (mark) => {
      text += mark.type === 'link' ? '</a>' : TAGS[mark.type][1];
    },
    text: (value) => {
      text += escapeHtml(value).replaceAll('\n', '<br>');
    },
  });
  return text;
}

function openMark(mark: Mark): string {
  if (mark.type !== 'link') return TAGS[mark.type][0];
  return `<a href="${escapeHtml(mark.url)}" rel="noopener noreferrer nofollow">`;
}

const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for HTML content and double-quoted attributes, on the web and in Telegram. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITY[character] ?? character);
}

/** The language of a code block as a class name, or undefined if it is not a plain word. */
export function languageClass(language: string | undefined): string | undefined {
  if (language === undefined || !/^[\w+#.-]{1,40}$/.test(language)) return undefined;
  return `language-${language}`;
}
