import type { Heading, Nodes, Root, RootContent, TableRow } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { ampersand, emphasis } from '../../../packages/markup/src/parse/inline-syntax.ts';
import type { ExpectedItem, ExpectedRow, Format, Formats, ItemMarker } from './expected.ts';
import { unmaskText } from './inline-maths.ts';
import { readExpectedInlines, readLiteralHtml } from './inline-reference.ts';
import { listReadings } from './readings.ts';
import { hasVisibleCharacter } from './visible.ts';

const OPTIONS = {
  // `~20` and `~/folder` are not strikethrough. The renderer's own `emphasis` construct decides
  // where emphasis starts and ends; its own tests check it. The `ampersand` construct shows
  // character references in text as written.
  extensions: [gfm({ singleTilde: false }), { text: { 38: ampersand, 42: emphasis } }],
  mdastExtensions: [gfmFromMarkdown()],
};

/** Information about the document that is needed to read a block. */
export interface MarkdownSource {
  readonly markdown: string;
  /** The first definition of each identifier. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The identifiers with at least one reference. */
  readonly used: ReadonlySet<string>;
}

/**
 * The required visible content of a Markdown document, according to the tests' own parser. Several
 * results if the document can be read with or without formulas; the result with all formulas comes
 * first.
 */
export function* readExpected(markdown: string): Generator<ExpectedItem[], void> {
  const source = markdown.toWellFormed().replaceAll('\0', '\ufffd').replaceAll(/\r\n?/g, '\n');
  for (const reading of listReadings(source, parseMarkdown)) yield readExpectedReading(reading);
}

function parseMarkdown(markdown: string): Root {
  return fromMarkdown(markdown, OPTIONS);
}

function readExpectedReading(markdown: string): ExpectedItem[] {
  const root = parseMarkdown(markdown);
  const addresses = new Map<string, string>();
  const used = new Set<string>();
  visitNodes(root, (node) => {
    if (node.type === 'definition' && !addresses.has(node.identifier)) {
      addresses.set(node.identifier, node.url);
    } else if (node.type === 'linkReference' || node.type === 'imageReference') {
      used.add(node.identifier);
    }
  });
  return root.children.flatMap((node) => readBlock(node, { markdown, addresses, used }));
}

function visitNodes(node: Nodes, see: (node: Nodes) => void): void {
  see(node);
  if ('children' in node) for (const child of node.children) visitNodes(child, see);
}

function readBlock(node: RootContent, source: MarkdownSource): ExpectedItem[] {
  const inside = (children: readonly RootContent[]) =>
    children.flatMap((child) => readBlock(child, source));
  switch (node.type) {
    case 'paragraph':
      return readExpectedInlines(node, source);
    case 'heading':
      return readHeading(node, source);
    case 'code':
      return hasVisibleCharacter(node.value)
        ? [createText(node.value, getCodeFormats(node.lang))]
        : [];
    case 'html':
      return readLiteralHtml(node.value, new Set());
    case 'thematicBreak':
      return [{ kind: 'rule' }];
    case 'blockquote':
      return [{ kind: 'quote', content: inside(node.children) }];
    case 'list': {
      const numbers = node.children.map((item) => Number.parseInt(getSource(item, source), 10));
      // Numbers that increase or count down are treated as intentional.
      const isMeant = [(a: number, b: number) => a < b, (a: number, b: number) => a - 1 === b].some(
        (follows) => numbers.slice(1).every((number, at) => follows(numbers[at] ?? 0, number)),
      );
      return node.children.flatMap((item, index) => {
        const counted = (node.start ?? 1) + index;
        const number = isMeant ? (numbers[index] ?? counted) : counted;
        const marker: ItemMarker = {
          ...(node.ordered ? { number } : {}),
          ...(typeof item.checked === 'boolean' ? { done: item.checked } : {}),
        };
        return [{ kind: 'marker', marker }, ...inside(item.children)];
      });
    }
    case 'footnoteDefinition': {
      const marker = { label: node.label ?? node.identifier };
      return [{ kind: 'marker', marker }, ...inside(node.children)];
    }
    case 'definition':
      return source.used.has(node.identifier)
        ? []
        : [createText(getSource(node, source), new Set())];
    case 'table': {
      const [header, ...rows] = node.children.map((row) => readCells(row, source));
      return [{ kind: 'table', header: header ?? [], rows }];
    }
    default:
      throw new Error(`the reference does not know ${node.type} as a block`);
  }
}

/**
 * A rule after several lines or a sentence is not a heading underline, and neither are one or two
 * characters.
 */
function readHeading(node: Heading, source: MarkdownSource): ExpectedItem[] {
  const content = readExpectedInlines(node, source);
  const lines = getSource(node, source).split('\n');
  const signs = /^[> \t]*(-+|=+)[ \t]*$/.exec(lines.at(-1) ?? '')?.[1];
  const isUnderlined = lines.length > 1 && signs !== undefined;
  if (isUnderlined && signs.length < 3) return [...content, createText(signs, new Set())];
  const isSentence = /[.!?…]$/.test(lines.at(-2) ?? '');
  if (isUnderlined && signs.startsWith('-') && (lines.length > 2 || isSentence)) {
    return [...content, { kind: 'rule' }];
  }
  return [{ kind: 'heading', content }];
}

function createText(value: string, formats: Formats): ExpectedItem {
  return { kind: 'text', text: unmaskText(value), formats };
}

function getCodeFormats(language: string | null | undefined): Formats {
  const code: Format[] = ['code'];
  if (language && /^[\w+#.-]{1,40}$/.test(language)) code.push(`language-${language}`);
  return new Set(code);
}

function readCells(row: TableRow, source: MarkdownSource): ExpectedRow {
  return row.children.map((cell) => readExpectedInlines(cell, source));
}

function getSource({ position }: Nodes, { markdown }: MarkdownSource): string {
  return markdown.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}
