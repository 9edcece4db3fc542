import type { Heading, Paragraph, PhrasingContent, TableCell } from 'mdast';
import type { Expected, Format, Formats } from './expected.ts';
import { unmasked } from './inline-maths.ts';
import type { Source } from './tree-reference.ts';
import { hasSeen } from './visible.ts';

/**
 * Asterisks that the renderer may read as emphasis although CommonMark does not: next to Chinese,
 * Japanese and Korean, which have no spaces between words, and at the end of `**Note:**text`.
 */
const DOUBTFUL =
  /[\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]\*|\*[\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffee]|[.,:;!?%)\]"'”’»]\*\*[\p{L}\p{N}]/u;

interface Context {
  /** Undefined where emphasis is doubtful, so the marks may or may not be visible. */
  readonly formats: Formats | undefined;
  readonly isLinked: boolean;
  readonly addresses: Source['addresses'];
}

/** The part of inline content that must be visible. */
export function expectedInlines(
  { children, position }: Paragraph | Heading | TableCell,
  { markdown, addresses }: Source,
): Expected[] {
  const written = markdown.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
  const formats = DOUBTFUL.test(written) ? undefined : new Set<Format>();
  return inlines(children, { formats, isLinked: false, addresses });
}

function inlines(nodes: readonly PhrasingContent[], context: Context): Expected[] {
  return nodes.flatMap((node) => inline(node, context));
}

function inline(node: PhrasingContent, context: Context): Expected[] {
  const { formats, addresses } = context;
  switch (node.type) {
    case 'text':
      return runningText(unmasked(node.value), formats);
    case 'html':
      return literalHtml(unmasked(node.value), formats);
    case 'inlineCode':
      return [text(node.value, withFormat('code', formats))];
    case 'break':
      return [];
    case 'strong':
      return emphasis('bold', '**', node.children, context);
    case 'emphasis':
      return emphasis('italic', '*', node.children, context);
    case 'delete':
      return emphasis('strike', '~~', node.children, context);
    case 'link':
      return link(node.url, node.children, context);
    case 'linkReference':
      return link(addresses.get(node.identifier) ?? '', node.children, context);
    case 'image':
      return image(node.url, node.alt, context);
    case 'imageReference':
      return image(addresses.get(node.identifier) ?? '', node.alt, context);
    case 'footnoteReference':
      return [text(`[${node.label ?? node.identifier}]`, formats)];
    default:
      throw new Error(`the reference does not know ${JSON.stringify(node)}`);
  }
}

function emphasis(
  format: Format,
  marks: string,
  children: readonly PhrasingContent[],
  context: Context,
): Expected[] {
  const { formats } = context;
  const content = inlines(children, { ...context, formats: withFormat(format, formats) });
  if (formats !== undefined) return content;
  const perhaps = { kind: 'maybe', text: marks } as const;
  return [perhaps, ...content, perhaps];
}

function withFormat(format: Format, formats: Formats | undefined): Formats | undefined {
  return formats && new Set([...formats, format]);
}

function link(url: string, children: readonly PhrasingContent[], context: Context): Expected[] {
  const formats = withFormat('link', context.formats);
  const content = inlines(children, { ...context, formats, isLinked: true });
  const isEmpty = !content.some((item) => item.kind !== 'link' && hasSeen(seenOf(item)));
  return [{ kind: 'link', url: unmasked(url), content: isEmpty ? [text(url, formats)] : content }];
}

function seenOf(item: Expected): string {
  return item.kind === 'text' || item.kind === 'maybe' ? item.text : '';
}

/**
 * An image appears as a link named by its alternative text; inside a link only the name is visible.
 */
function image(url: string, alt: string | null | undefined, context: Context): Expected[] {
  const { formats, isLinked } = context;
  const shown = isLinked ? '🖼' : url;
  const name = text(alt && hasSeen(alt) ? alt : shown, withFormat('link', formats));
  return isLinked ? [name] : [{ kind: 'link', url: unmasked(url), content: [name] }];
}

function text(value: string, formats: Formats | undefined): Expected {
  return { kind: 'text', text: unmasked(value), formats };
}

/**
 * Spoiler bars may disappear where they are syntax (`a || b` stays); where emphasis is doubtful all
 * marks may, since crossing marks depend on each other.
 */
function runningText(value: string, formats: Formats | undefined): Expected[] {
  const bars = /((?<=^|\S)\|\||\|\|(?=\S|$))/;
  const signs = formats === undefined ? /((?<=^|\S)\|\||\|\|(?=\S|$)|[*_~])/ : bars;
  return value
    .split(signs)
    .map((piece, index) =>
      index % 2 === 1 ? { kind: 'maybe', text: piece } : text(piece, formats),
    );
}

/** HTML is shown as written; for `<u>`, `<ins>` and `<br>`, people may see the effect instead. */
export function literalHtml(value: string, formats: Formats | undefined): Expected[] {
  return value
    .split(/(<\/?(?:u|ins)>|<br\s*\/?>)/i)
    .map((piece, index) =>
      index % 2 === 1 ? { kind: 'maybe', text: piece } : text(piece, formats),
    );
}
