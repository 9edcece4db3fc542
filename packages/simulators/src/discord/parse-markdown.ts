import {
  type DiscordNode,
  isPlainText,
  type MarkdownRule,
  type MarkType,
  type ParseText,
  type ReadState,
  walkNodes,
} from './markdown.ts';
import {
  readBlankLines,
  readCodeBlock,
  readHeading,
  readList,
  readParagraph,
  readQuote,
  readSubtext,
} from './markdown-blocks.ts';
import {
  readAngleLink,
  readBareLink,
  readCustomEmoji,
  readLive,
  readMaskedLink,
} from './markdown-links.ts';
import {
  readBreak,
  readCode,
  readEscape,
  readMark,
  readShrug,
  readSpoiler,
  readText,
} from './markdown-marks.ts';
import { findViolations, type Violation } from './violations.ts';

/** A parsed Discord message: its visible text and its problems. */
interface DiscordMessage {
  readonly tree: readonly DiscordNode[];
  /** The visible text, without marks, with `• ` or numbers before list items. */
  readonly visible: string;
  /** The same text, split into runs with uniform formatting and without bullets and numbers. */
  readonly runs: readonly FormatRun[];
  /** Mentions, timestamps and emoji names, which the client replaces. */
  readonly live: readonly Extract<DiscordNode, { type: 'live' }>[];
  /** Problems such as wrong rendering or unwanted notifications; empty for a correct message. */
  readonly violations: readonly Violation[];
}

/** The text contains a line end wherever people see a new line. */
interface FormatRun {
  /**
   * The bullet or number of a list item that this run starts (`•` or `1.`), indented by its
   * level; otherwise empty.
   */
  readonly marker: string;
  readonly text: string;
  readonly formats: ReadonlySet<RunFormat>;
  /** The link around this run; all runs of one link share the same object. */
  readonly link?: { readonly url: string };
}

/** The formats of a run; `codeBlock` and `language-…` always come with `code`. */
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

const START: ReadState = {
  before: '',
  inline: true,
  inQuote: false,
  listLevel: 0,
  headings: true,
  subtexts: true,
  escapes: true,
  onlyMarks: false,
};

/** The rules are in the client's order; the first match wins. */
const RULES: readonly MarkdownRule[] = [
  readHeading,
  readSubtext,
  readCodeBlock,
  readCustomEmoji,
  readQuote,
  readList,
  readBlankLines,
  readParagraph,
  readEscape,
  readAngleLink,
  readBareLink,
  readMaskedLink,
  readMark,
  readCode,
  readBreak,
  readShrug,
  readLive,
  readSpoiler,
  readText,
];

/** The rules for the text of a masked link. */
const LINK_RULES: readonly MarkdownRule[] = [
  readMark,
  readCode,
  readBreak,
  readLive,
  readSpoiler,
  readText,
];

/**
 * Parses a message as Discord's client renders it, and reports its problems.
 *
 * Sources, read in November 2026: the rules in Discord's own web and phone clients as preserved in
 * several public archives (MarkupRules, MarkupListRule, MarkupLinkRule, MarkupHeadingRule,
 * MarkupSubtextRule, MarkupTextRule, MarkupASTUtils), which are based on Khan Academy's
 * simple-markdown; Discord's help article "Markdown Text 101"; issues 6096, 6565 and 7721 of
 * discord/discord-api-docs on masked links. Marks close at the nearest match, even inside code. Not
 * covered: look-alike letters in link text, previews, and which emoji names the client knows.
 */
export function parseDiscordMarkdown(text: string): DiscordMessage {
  const source = text.replaceAll(/\r\n?/g, '\n').replaceAll('\f', '').replaceAll('\t', '    ');
  const tree = joinTexts(read(source, START));
  const runs = formatRuns(tree);
  return {
    tree,
    visible: runs.map((run) => run.marker + run.text).join(''),
    runs,
    live: [...walkNodes(tree)].filter((node) => node.type === 'live'),
    violations: findViolations(text, tree),
  };
}

const read: ParseText = (source, state) => {
  const rules = state.onlyMarks ? LINK_RULES : RULES;
  const nodes: DiscordNode[] = [];
  let { before } = state;
  let at = 0;
  while (at < source.length) {
    const here = { ...state, before };
    let end = at;
    for (const rule of rules) {
      const taken = rule(source, at, here, read);
      if (taken === undefined) continue;
      nodes.push(...taken.nodes);
      end = taken.end;
      break;
    }
    before = source.slice(at, end);
    at = end;
  }
  return nodes;
};

/** Merges adjacent text nodes. */
function joinTexts(tree: readonly DiscordNode[]): DiscordNode[] {
  const joined: DiscordNode[] = [];
  for (const node of tree) {
    const last = joined.at(-1);
    if (isPlainText(node) && last !== undefined && isPlainText(last)) {
      joined[joined.length - 1] = { type: 'text', text: last.text + node.text };
    } else if (node.type === 'list') {
      joined.push({ ...node, items: node.items.map(joinTexts) });
    } else {
      joined.push('children' in node ? { ...node, children: joinTexts(node.children) } : node);
    }
  }
  return joined;
}

type Formats = ReadonlySet<RunFormat>;
type Link = { readonly url: string } | undefined;

interface RunWriter {
  readonly runs: FormatRun[];
  marker: string;
  endsLine: boolean;
}

/** Flattens a tree into runs, in reading order. */
function formatRuns(tree: readonly DiscordNode[]): FormatRun[] {
  const writer: RunWriter = { runs: [], marker: '', endsLine: true };
  for (const node of tree) writeNode(writer, node, new Set(), undefined, 0);
  return writer.runs;
}

function writeNode(
  writer: RunWriter,
  node: DiscordNode,
  formats: Formats,
  link: Link,
  level: number,
): void {
  switch (node.type) {
    case 'text':
    case 'emoji':
    case 'refusedLink':
      writeText(writer, node.text, formats, link);
      break;
    case 'live':
      writeText(writer, node.text, addFormats(formats, 'live'), link);
      break;
    case 'code':
      writeText(writer, node.text, addFormats(formats, 'code'), link);
      break;
    case 'codeBlock': {
      const language = node.language === '' ? [] : [`language-${node.language}` as const];
      writeOnOwnLines(writer, () =>
        writeText(writer, node.text, addFormats(formats, 'code', 'codeBlock', ...language), link),
      );
      break;
    }
    case 'link': {
      const own = { url: node.url };
      for (const child of node.children)
        writeNode(writer, child, addFormats(formats, 'link'), own, level);
      break;
    }
    case 'list':
      writeOnOwnLines(writer, () => writeList(writer, node, formats, link, level));
      break;
    case 'heading':
    case 'quote':
    case 'subtext':
    case 'paragraph':
      writeOnOwnLines(writer, () => {
        for (const child of node.children)
          writeNode(writer, child, getBlockFormats(node, formats), link, level);
      });
      break;
    default:
      for (const child of node.children)
        writeNode(writer, child, addFormats(formats, node.type), link, level);
  }
}

function getBlockFormats(node: DiscordNode, formats: Formats): Formats {
  if (node.type === 'heading') return addFormats(formats, `heading-${node.level}`);
  return node.type === 'quote' || node.type === 'subtext'
    ? addFormats(formats, node.type)
    : formats;
}

function writeList(
  writer: RunWriter,
  { start, items }: Extract<DiscordNode, { type: 'list' }>,
  formats: Formats,
  link: Link,
  level: number,
): void {
  for (const [index, item] of items.entries()) {
    startNewLine(writer);
    const sign = start === undefined ? '•' : `${start + index}.`;
    writer.marker = `${'  '.repeat(level)}${sign} `;
    for (const child of item) writeNode(writer, child, formats, link, level + 1);
  }
  startNewLine(writer);
}

function writeOnOwnLines(writer: RunWriter, content: () => void): void {
  startNewLine(writer);
  content();
  startNewLine(writer);
}

function startNewLine(writer: RunWriter): void {
  if (!writer.endsLine || writer.marker !== '') writeText(writer, '\n', new Set(), undefined);
}

function writeText(writer: RunWriter, text: string, formats: Formats, link: Link): void {
  if (text === '' && writer.marker === '') return;
  const { marker } = writer;
  writer.marker = '';
  writer.runs.push({ marker, text, formats, ...(link === undefined ? {} : { link }) });
  writer.endsLine = text.endsWith('\n');
}

function addFormats(formats: Formats, ...more: readonly RunFormat[]): Formats {
  return new Set([...formats, ...more]);
}
