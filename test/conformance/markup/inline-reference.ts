import type { Heading, Paragraph, PhrasingContent, TableCell } from 'mdast';
import type { ExpectedItem, Format, Formats } from './expected.ts';
import { unmaskText } from './inline-maths.ts';
import type { MarkdownSource } from './tree-reference.ts';
import { hasVisibleCharacter } from './visible.ts';

/**
 * Asterisks that the renderer may read as emphasis although CommonMark does not: next to Chinese,
 * Japanese and Korean, which have no spaces between words, and at the end of `**Note:**text`.
 */
const DOUBTFUL =
  /[\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]\*|\*[\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]|[.,:;!?%)\]"'”’»]\*\*[\p{L}\p{N}]/u;

interface InlineContext {
  /** Undefined where emphasis is doubtful, so the marks may or may not be visible. */
  readonly formats: Formats | undefined;
  readonly isLinked: boolean;
  readonly addresses: MarkdownSource['addresses'];
}

/** The part of inline content that must be visible. */
export function readExpectedInlines(
  { children, position }: Paragraph | Heading | TableCell,
  { markdown, addresses }: MarkdownSource,
): ExpectedItem[] {
  const written = markdown.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
  const formats = DOUBTFUL.test(written) ? undefined : new Set<Format>();
  return readInlines(children, { formats, isLinked: false, addresses });
}

function readInlines(nodes: readonly PhrasingContent[], context: InlineContext): ExpectedItem[] {
  return nodes.flatMap((node) => readInline(node, context));
}

function readInline(node: PhrasingContent, context: InlineContext): ExpectedItem[] {
  const { formats, addresses } = context;
  switch (node.type) {
    case 'text':
      return readRunningText(unmaskText(node.value), formats);
    case 'html':
      return readLiteralHtml(unmaskText(node.value), formats);
    case 'inlineCode':
      return [createText(node.value, addFormat('code', formats))];
    case 'break':
      return [];
    case 'strong':
      return readEmphasis('bold', '**', node.children, context);
    case 'emphasis':
      return readEmphasis('italic', '*', node.children, context);
    case 'delete':
      return readEmphasis('strike', '~~', node.children, context);
    case 'link':
      return readLink(node.url, node.children, context);
    case 'linkReference':
      return readLink(addresses.get(node.identifier) ?? '', node.children, context);
    case 'image':
      return readImage(node.url, node.alt, context);
    case 'imageReference':
      return readImage(addresses.get(node.identifier) ?? '', node.alt, context);
    case 'footnoteReference':
      return [createText(`[${node.label ?? node.identifier}]`, formats)];
    default:
      throw new Error(`the reference does not know ${JSON.stringify(node)}`);
  }
}

function readEmphasis(
  format: Format,
  marks: string,
  children: readonly PhrasingContent[],
  context: InlineContext,
): ExpectedItem[] {
  const { formats } = context;
  const content = readInlines(children, { ...context, formats: addFormat(format, formats) });
  if (formats !== undefined) return content;
  const perhaps = { kind: 'maybe', text: marks } as const;
  return [perhaps, ...content, perhaps];
}

function addFormat(format: Format, formats: Formats | undefined): Formats | undefined {
  return formats && new Set([...formats, format]);
}

function readLink(
  url: string,
  children: readonly PhrasingContent[],
  context: InlineContext,
): ExpectedItem[] {
  const formats = addFormat('link', context.formats);
  const content = readInlines(children, { ...context, formats, isLinked: true });
  const isEmpty = !content.some(
    (item) => item.kind !== 'link' && hasVisibleCharacter(getItemText(item)),
  );
  return [
    { kind: 'link', url: unmaskText(url), content: isEmpty ? [createText(url, formats)] : content },
  ];
}

function getItemText(item: ExpectedItem): string {
  return item.kind === 'text' || item.kind === 'maybe' ? item.text : '';
}

/**
 * An image appears as a link named by its alternative text; inside a link only the name is visible.
 */
function readImage(
  url: string,
  alt: string | null | undefined,
  context: InlineContext,
): ExpectedItem[] {
  const { formats, isLinked } = context;
  const shown = isLinked ? '🖼' : url;
  const name = createText(
    alt && hasVisibleCharacter(alt) ? alt : shown,
    addFormat('link', formats),
  );
  return isLinked ? [name] : [{ kind: 'link', url: unmaskText(url), content: [name] }];
}

function createText(value: string, formats: Formats | undefined): ExpectedItem {
  return { kind: 'text', text: unmaskText(value), formats };
}

/**
 * Spoiler bars may disappear where they are syntax (`a || b` stays); where emphasis is doubtful,
 * all marks may disappear, because crossing marks depend on each other.
 */
function readRunningText(value: string, formats: Formats | undefined): ExpectedItem[] {
  const bars = /((?<=^|\S)\|\||\|\|(?=\S|$))/;
  const signs = formats === undefined ? /((?<=^|\S)\|\||\|\|(?=\S|$)|[*_~])/ : bars;
  return value
    .split(signs)
    .map((piece, index) =>
      index % 2 === 1 ? { kind: 'maybe', text: piece } : createText(piece, formats),
    );
}

/** HTML is shown as written; for `<u>`, `<ins>` and `<br>`, people may see the effect instead. */
export function readLiteralHtml(value: string, formats: Formats | undefined): ExpectedItem[] {
  return value
    .split(/(<\/?(?:u|ins)>|<br\s*\/?>)/i)
    .map((piece, index) =>
      index % 2 === 1 ? { kind: 'maybe', text: piece } : createText(piece, formats),
    );
}
