import type { Definition, FootnoteDefinition, List, Nodes, Root, RootContent } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Container, Leaf } from '../document.ts';
import { type MarkdownParser, parseTree, tryParse } from '../parse/parse.ts';
import {
  collectReferences,
  type Draft,
  draftBlocks,
  findBeginnings,
  finishLeaf,
} from '../transform/blocks.ts';
import { readLine } from './last-line.ts';

/** Definitions from earlier blocks; more than these are not found by later ones. */
const LENT_DEFINITIONS = 200;
const LENT_LENGTH = 4_000;

/** So much of a line tells whether it begins a block, in UTF-16 units. */
const BEGINNING = 200;

/** A stretch of the source that was parsed alone, and whole blocks of it. */
export interface Segment {
  readonly root: Root;
  readonly source: string;
  readonly nodes: readonly RootContent[];
  /** Where the stretch begins, as the positions in `root` count lines. */
  readonly firstLine: number;
  /** Where the block behind these begins; undefined if that is not known. */
  readonly nextLine: number | undefined;
  /** Whether the next block is one more item of the list that stands last here. */
  readonly inList: boolean;
}

/** Parses stretches of one document, each with the definitions that stood before it. */
export class SegmentParser {
  readonly #parse: MarkdownParser;
  readonly #links: string[] = [];
  readonly #footnotes: string[] = [];
  #lentLength = 0;

  constructor(parse: MarkdownParser = parseTree) {
    this.#parse = parse;
  }

  /** Parses a stretch and takes all of it. */
  whole(text: string): Segment {
    const lent = text.includes('[') ? this.#lent() : '';
    const source = lent + text;
    const root = tryParse(this.#parse, source) ?? asWritten(source, lent.length);
    const nodes = root.children.filter(
      ({ position }) => (position?.start.offset ?? 0) >= lent.length,
    );
    const firstLine = 1 + countLines(lent);
    return { root, source, nodes, firstLine, nextLine: undefined, inList: false };
  }

  /**
   * Parses a stretch and takes the blocks before `next`.
   * @param next the line behind the stretch.
   * @returns undefined if neither a block nor an item of a list begins with that line.
   */
  before(text: string, next: string): Segment | undefined {
    // Its beginning tells; a definition is taken whole, as these blocks may refer to it.
    const line = next.startsWith('[') ? next : next.slice(0, BEGINNING);
    const segment = this.whole(`${text}${line}\n`);
    const nextLine = segment.firstLine + countLines(text);
    const begins = ({ position }: Nodes) => position?.start.line === nextLine;
    const { nodes } = segment;
    const at = nodes.findIndex(begins);
    if (at >= 0) {
      if (!this.#readsAlike(line, nodes[at])) return undefined;
      return { ...segment, nodes: nodes.slice(0, at), nextLine };
    }
    const last = nodes.at(-1);
    const item = last?.type === 'list' ? last.children.findIndex(begins) : -1;
    if (last?.type !== 'list' || item < 0) return undefined;
    if (!this.#readsAlike(line, last.children[item])) return undefined;
    const own = [...nodes.slice(0, -1), shortened(last, item)];
    return { ...segment, nodes: own, nextLine, inList: true };
  }

  /**
   * Whether a line makes the same blocks alone as it made there. The parser takes a number other than
   * 1, or a marker without text, for prose where it wrongly sees a paragraph going on.
   */
  #readsAlike(line: string, node: Nodes | undefined): boolean {
    const { prefix, content } = readLine(line);
    const markers = prefix.match(/[-*+>]|\d+/g) ?? [];
    const isMarker = /^(?:[-*+]|\d+[.)])?$/.test(content);
    const isMisread = markers.length > 0 && node?.type === 'paragraph';
    if (markers.length < 2 && !isMarker && !isMisread) return true;
    const [alone] = this.whole(`${line}\n`).nodes;
    const same = node?.type === 'listItem' && alone?.type === 'list' ? alone.children[0] : alone;
    return shapeOf(same) === shapeOf(node);
  }

  /** Lets later stretches use the definitions in these blocks. */
  lend({ nodes, source }: Segment): void {
    const visit = (node: Nodes) => {
      if (node.type === 'definition' || node.type === 'footnoteDefinition') {
        this.#lendOne(node, source);
      }
      if ('children' in node) for (const child of node.children) visit(child);
    };
    for (const node of nodes) visit(node);
  }

  #lendOne(node: Definition | FootnoteDefinition, source: string): void {
    const { start, end } = node.position ?? {};
    const written = source.slice(start?.offset ?? 0, end?.offset ?? 0);
    const isLink = node.type === 'definition';
    // Of a footnote only the name: its text is shown where it stands.
    const lent = isLink ? written : `${written.split(']:')[0] ?? ''}]: .`;
    const lines = isLink ? this.#links : this.#footnotes;
    const length = this.#lentLength + lent.length + 1;
    const isFull = this.#links.length + this.#footnotes.length >= LENT_DEFINITIONS;
    if (isFull || length > LENT_LENGTH || lent.includes('\n')) return;
    lines.push(lent);
    this.#lentLength = length;
  }

  #lent(): string {
    // The rule ends the last footnote, else it would take an indented line that follows.
    const footnotes = this.#footnotes.length > 0 ? [...this.#footnotes, '', '***', ''] : [];
    const links = this.#links.length > 0 ? [...this.#links, ''] : [];
    return [...footnotes, ...links].map((line) => `${line}\n`).join('');
  }
}

/** The containers of a block's beginning, and what stands in them. */
function shapeOf(node: Nodes | undefined): string {
  switch (node?.type) {
    case 'list':
    case 'listItem':
    case 'blockquote':
    case 'footnoteDefinition':
      return `${node.type} ${shapeOf(node.children[0])}`;
    default:
      return node?.type ?? '';
  }
}

/** The list without its last items; its position tells where it ends. */
function shortened(list: List, items: number): List {
  const children = list.children.slice(0, items);
  const end = children.at(-1)?.position?.end;
  if (list.position === undefined || end === undefined) return { ...list, children };
  return { ...list, children, position: { ...list.position, end } };
}

/** For what overflows the parser: HTML is shown as it is written. */
function asWritten(source: string, from: number): Root {
  const start = { line: 1 + countLines(source.slice(0, from)), column: 1, offset: from };
  const end = { line: 1 + countLines(source), column: 1, offset: source.length };
  const value = source.slice(from);
  return { type: 'root', children: [{ type: 'html', value, position: { start, end } }] };
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** What a segment has to know about the ones before it. */
export interface Before {
  /** Line ends before the next leaf, if no empty line stands in between anyway. */
  readonly gap: 1 | 2;
  /** The list that the next segment begins in the middle of. */
  readonly list: OpenList | undefined;
  /** Definitions that something has referred to so far. */
  readonly used: ReadonlySet<string>;
}

interface OpenList {
  readonly container: Container;
  /** The number of the next item. */
  readonly next: number | undefined;
}

/** What leaves are made for. */
export interface DraftTarget {
  readonly capabilities: DialectCapabilities;
  readonly pings: DialectCapabilities['pings'];
}

/** A segment's leaves, and what the next one has to know. */
interface Drafted {
  readonly leaves: Leaf[];
  readonly before: Before;
}

/** Turns parsed top-level blocks into the leaves they would be as part of the whole document. */
export function draftSegment(segment: Segment, before: Before, target: DraftTarget): Drafted {
  const { root, source, nodes, firstLine } = segment;
  const references = collectReferences([root]);
  const used =
    references.used.size === 0 ? before.used : new Set([...before.used, ...references.used]);
  const context = { ...references, used, source, capabilities: target.capabilities };
  const drafts: Draft[] = [];
  let left = before.gap;
  let list: OpenList | undefined;
  let endLine = firstLine - 1;
  for (const [index, node] of nodes.entries()) {
    const continued = index === 0 ? before.list : undefined;
    const gap = lineOf(node, 'start') - endLine > 1 ? 2 : left;
    const own = draftBlocks([renumbered(node, continued)], { within: [], gap }, context);
    for (const draft of own) drafts.push(moved(draft, continued));
    list = openList(node, own, continued);
    left = own.length === 0 ? gap : 1;
    endLine = lineOf(node, 'end');
  }
  const seen = new Set<Container>(before.list === undefined ? [] : [before.list.container]);
  const leaves = findBeginnings(drafts, seen).map((leaf) => finishLeaf(leaf, target.pings));
  const isCut = segment.nextLine !== undefined && segment.inList;
  const gap = segment.nextLine !== undefined && segment.nextLine - endLine > 1 ? 2 : left;
  return { leaves, before: { gap, used, list: isCut ? list : undefined } };
}

function lineOf(node: Nodes, side: 'start' | 'end'): number {
  return node.position?.[side].line ?? 0;
}

/** The list goes on counting where its earlier items ended. */
function renumbered(node: RootContent, list: OpenList | undefined): RootContent {
  return node.type === 'list' && list?.next !== undefined ? { ...node, start: list.next } : node;
}

/** The draft with the list that it continues in place of its own. */
function moved(draft: Draft, list: OpenList | undefined): Draft {
  if (list === undefined) return draft;
  return { ...draft, within: [list.container, ...draft.within.slice(1)] };
}

function openList(
  node: RootContent,
  drafts: readonly Draft[],
  continued: OpenList | undefined,
): OpenList | undefined {
  const container = continued?.container ?? drafts[0]?.within[0];
  if (node.type !== 'list' || container === undefined) return undefined;
  const first = continued?.next ?? (node.ordered ? (node.start ?? 1) : undefined);
  return { container, next: first === undefined ? undefined : first + node.children.length };
}
