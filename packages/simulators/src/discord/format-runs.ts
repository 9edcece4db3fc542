import type { DiscordNode, MarkType } from './markdown-node.ts';

/** A format as people see it; `codeBlock` and `language-…` come with `code`. */
export type RunFormat =
  | MarkType
  | 'quote'
  | 'subtext'
  | 'code'
  | 'codeBlock'
  | 'link'
  | 'live'
  | `heading-${number}`
  | `language-${string}`;

/** Text with one set of formats. Line ends stand where people see a new line. */
export interface FormatRun {
  /** `• ` or `1. ` with the indent of its level, where this run begins a list item; else empty. */
  readonly marker: string;
  readonly text: string;
  readonly formats: ReadonlySet<RunFormat>;
  /** The link it stands in; runs of one link share the object. */
  readonly link?: { readonly url: string };
}

type Formats = ReadonlySet<RunFormat>;
type Link = { readonly url: string } | undefined;

interface Writer {
  readonly runs: FormatRun[];
  marker: string;
  endsLine: boolean;
}

/** Flattens a tree into what people see, in order. */
export function formatRuns(tree: readonly DiscordNode[]): FormatRun[] {
  const writer: Writer = { runs: [], marker: '', endsLine: true };
  for (const node of tree) write(writer, node, new Set(), undefined, 0);
  return writer.runs;
}

function write(
  writer: Writer,
  node: DiscordNode,
  formats: Formats,
  link: Link,
  level: number,
): void {
  switch (node.type) {
    case 'text':
    case 'emoji':
    case 'refusedLink':
      show(writer, node.text, formats, link);
      break;
    case 'live':
      show(writer, node.text, add(formats, 'live'), link);
      break;
    case 'code':
      show(writer, node.text, add(formats, 'code'), link);
      break;
    case 'codeBlock': {
      const language = node.language === '' ? [] : [`language-${node.language}` as const];
      onOwnLines(writer, () =>
        show(writer, node.text, add(formats, 'code', 'codeBlock', ...language), link),
      );
      break;
    }
    case 'link': {
      const own = { url: node.url };
      for (const child of node.children) write(writer, child, add(formats, 'link'), own, level);
      break;
    }
    case 'list':
      onOwnLines(writer, () => writeList(writer, node, formats, link, level));
      break;
    case 'heading':
    case 'quote':
    case 'subtext':
    case 'paragraph':
      onOwnLines(writer, () => {
        for (const child of node.children)
          write(writer, child, blockFormats(node, formats), link, level);
      });
      break;
    default:
      for (const child of node.children) write(writer, child, add(formats, node.type), link, level);
  }
}

function blockFormats(node: DiscordNode, formats: Formats): Formats {
  if (node.type === 'heading') return add(formats, `heading-${node.level}`);
  return node.type === 'quote' || node.type === 'subtext' ? add(formats, node.type) : formats;
}

function writeList(
  writer: Writer,
  { start, items }: Extract<DiscordNode, { type: 'list' }>,
  formats: Formats,
  link: Link,
  level: number,
): void {
  for (const [index, item] of items.entries()) {
    newLine(writer);
    const sign = start === undefined ? '•' : `${start + index}.`;
    writer.marker = `${'  '.repeat(level)}${sign} `;
    for (const child of item) write(writer, child, formats, link, level + 1);
  }
  newLine(writer);
}

function onOwnLines(writer: Writer, content: () => void): void {
  newLine(writer);
  content();
  newLine(writer);
}

function newLine(writer: Writer): void {
  if (!writer.endsLine || writer.marker !== '') show(writer, '\n', new Set(), undefined);
}

function show(writer: Writer, text: string, formats: Formats, link: Link): void {
  if (text === '' && writer.marker === '') return;
  const { marker } = writer;
  writer.marker = '';
  writer.runs.push({ marker, text, formats, ...(link === undefined ? {} : { link }) });
  writer.endsLine = text.endsWith('\n');
}

function add(formats: Formats, ...more: readonly RunFormat[]): Formats {
  return new Set([...formats, ...more]);
}
