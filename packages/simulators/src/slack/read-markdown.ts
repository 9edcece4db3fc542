import type {
  BlockContent,
  DefinitionContent,
  List,
  PhrasingContent,
  RootContent,
  Table,
} from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { parseMentions } from './parse-mrkdwn.ts';
import type { Inline, RichSection, RichText, TextStyle } from './rich-text.ts';
import type { WireBlock } from './wire.ts';

/**
 * Converts standard Markdown (`markdown_text`, Markdown blocks) as Slack does: to rich text, and to
 * separate blocks for headings, tables and dividers.
 */
export function convertMarkdown(source: string): WireBlock[] {
  const { children } = fromMarkdown(source, {
    extensions: [gfm({ singleTilde: false })],
    mdastExtensions: [gfmFromMarkdown()],
  });
  const blocks: WireBlock[] = [];
  let parts: RichText[] = [];
  const flush = () => {
    if (parts.length > 0) blocks.push({ type: 'rich_text', elements: addParagraphGaps(parts) });
    parts = [];
  };
  for (const node of children) {
    const own = toStandaloneBlock(node);
    if (own === undefined) parts.push(...toRichText(node, 0));
    else {
      flush();
      blocks.push(own);
    }
  }
  flush();
  return blocks;
}

function toStandaloneBlock(node: RootContent): WireBlock | undefined {
  switch (node.type) {
    case 'heading':
      return {
        type: 'header',
        level: node.depth,
        text: { type: 'plain_text', text: flattenText(node.children), emoji: true },
      };
    case 'thematicBreak':
      return { type: 'divider' };
    case 'table':
      return toTableBlock(node);
    default:
      return undefined;
  }
}

function toTableBlock({ children, align }: Table): WireBlock {
  const cell = (inline: readonly PhrasingContent[]) => ({
    type: 'rich_text',
    elements: [toSection(toInline(inline, {}))],
  });
  return {
    type: 'table',
    rows: children.map((row) => row.children.map((one) => cell(one.children))),
    column_settings: (align ?? []).map((side) => ({ align: side ?? 'left' })),
  };
}

function toRichText(
  node: RootContent | BlockContent | DefinitionContent,
  indent: number,
): RichText[] {
  switch (node.type) {
    case 'paragraph':
      return [toSection(toInline(node.children, {}))];
    case 'heading':
      return [toSection(toInline(node.children, { bold: true }))];
    case 'code':
      return [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: node.value }] }];
    case 'html':
      return [toSection(parseMentions(node.value, {}))];
    case 'blockquote':
      return [{ type: 'rich_text_quote', elements: toQuotedInline(node.children) }];
    case 'list':
      return toRichTextLists(node, indent);
    default:
      return [];
  }
}

/** A quote contains only lines, so line ends join its blocks. */
function toQuotedInline(children: readonly (BlockContent | DefinitionContent)[]): Inline[] {
  return children.flatMap((child, index) => {
    const inner = toRichText(child, 0).flatMap((part) =>
      part.type === 'rich_text_list'
        ? part.elements.flatMap(({ elements }, nth) => [
            { type: 'text', text: `${nth > 0 ? '\n' : ''}• ` } as const,
            ...elements,
          ])
        : part.elements,
    );
    return index === 0 ? inner : [{ type: 'text', text: '\n' } as const, ...inner];
  });
}

/** A nested list becomes a separate list with a larger indent. */
function toRichTextLists({ ordered, start, children }: List, indent: number): RichText[] {
  const style = ordered === true ? 'ordered' : 'bullet';
  const first = (start ?? 1) - 1;
  const parts: RichText[] = [];
  let items: RichSection[] = [];
  let done = 0;
  const flush = () => {
    if (items.length === 0) return;
    const offset = ordered === true && first + done > 0 ? { offset: first + done } : {};
    parts.push({ type: 'rich_text_list', style, indent, ...offset, elements: items });
    done += items.length;
    items = [];
  };
  for (const { children: content, checked } of children) {
    const [head, ...rest] = content;
    const box =
      typeof checked === 'boolean' ? [{ type: 'text', text: checked ? '☑ ' : '☐ ' } as const] : [];
    const isLine = head?.type === 'paragraph';
    items.push(toSection([...box, ...(isLine ? toInline(head.children, {}) : [])]));
    const below = (isLine ? rest : content).flatMap((node) => toRichText(node, indent + 1));
    if (below.length > 0) flush();
    parts.push(...below);
  }
  flush();
  return parts;
}

function toSection(elements: readonly Inline[]): RichSection {
  return { type: 'rich_text_section', elements };
}

/** An empty line separates two paragraphs. */
function addParagraphGaps(parts: readonly RichText[]): RichText[] {
  return parts.map((part, index) => {
    const next = parts[index + 1];
    if (part.type !== 'rich_text_section' || next?.type !== 'rich_text_section') return part;
    return { ...part, elements: [...part.elements, { type: 'text', text: '\n' }] };
  });
}

function toInline(nodes: readonly PhrasingContent[], style: TextStyle): Inline[] {
  return nodes.flatMap((node) => nodeToInline(node, style));
}

function nodeToInline(node: PhrasingContent, style: TextStyle): Inline[] {
  switch (node.type) {
    case 'text':
      return parseMentions(node.value, style);
    case 'inlineCode':
      return [{ type: 'text', text: node.value, style: { ...style, code: true } }];
    case 'strong':
      return toInline(node.children, { ...style, bold: true });
    case 'emphasis':
      return toInline(node.children, { ...style, italic: true });
    case 'delete':
      return toInline(node.children, { ...style, strike: true });
    case 'break':
      return [{ type: 'text', text: '\n' }];
    case 'link': {
      const text = flattenText(node.children);
      return [
        { type: 'link', url: node.url, ...(text !== node.url && { text }), ...toStyleField(style) },
      ];
    }
    case 'image':
      return [{ type: 'link', url: node.url, text: node.alt || node.url, ...toStyleField(style) }];
    case 'html':
      return parseMentions(node.value, style);
    default:
      return [];
  }
}

function toStyleField(style: TextStyle): { readonly style?: TextStyle } {
  return Object.keys(style).length === 0 ? {} : { style };
}

function flattenText(nodes: readonly PhrasingContent[]): string {
  return toInline(nodes, {})
    .map((element) =>
      element.type === 'text' ? element.text : 'text' in element ? element.text : '',
    )
    .join('');
}
