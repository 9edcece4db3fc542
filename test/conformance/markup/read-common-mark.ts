import type { ListItem, Nodes, PhrasingContent, Root, RootContent, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { Format, Formats } from './expected.ts';
import type { TextStretch } from './seen.ts';

/**
 * Reads one comment on GitHub or Linear.
 * @throws Error if a comment would not show all of the text, or would notify people.
 */
export function readGfm(markdown: string): TextStretch[] {
  const stretches = readBlocks(parseGfm(markdown).children);
  refuseLive(stretches);
  return stretches;
}

/** Parses a comment on GitHub. */
export function parseGfm(markdown: string): Root {
  return fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/**
 * Reads one text message in Teams.
 * @throws Error if the text contains something that Teams does not show as intended.
 */
export function readTeams(markdown: string): TextStretch[] {
  const { children } = parseTeams(markdown);
  for (const node of children) refuseInTeams(node);
  return readBlocks(children);
}

/** Parses a text message as Teams does, which detects URLs only after parsing the Markdown. */
export function parseTeams(markdown: string): Root {
  return fromMarkdown(markdown, {
    extensions: [
      gfm({ singleTilde: false }),
      { disable: { null: ['emailAutolink', 'protocolAutolink', 'wwwAutolink'] } },
    ],
    mdastExtensions: [gfmFromMarkdown()],
  });
}

/** The parts of a message that Teams shows as text, or interprets. */
const NOT_IN_TEAMS: readonly Nodes['type'][] = ['heading', 'table', 'thematicBreak', 'html'];

function refuseInTeams(node: Nodes): void {
  const isTask = node.type === 'listItem' && typeof node.checked === 'boolean';
  if (isTask || NOT_IN_TEAMS.includes(node.type)) throw new Error(`${node.type} in Teams`);
  if ('children' in node) for (const child of node.children) refuseInTeams(child);
}

/** Names that GitHub turns into mentions or emoji, except in code and links. */
const LIVE =
  /(?<![a-z0-9_])@[a-z0-9][a-z0-9/-]*|:[a-z0-9_+-]*[a-z][a-z0-9_+-]*:|:(?:[+-]1|100|1234):/i;
/** A mention for Linear, which detects URLs anywhere. */
const PROFILE = /https?:\/\/linear\.app\/[^/]+\/profiles\//;

function refuseLive(stretches: readonly TextStretch[]): void {
  const isCode = ({ formats }: TextStretch) => formats?.has('code') === true;
  const free = stretches.map((each) => (isCode(each) || each.link ? ' ' : each.text)).join('');
  const urls = stretches.map(({ link }) => link?.url ?? '').join(' ');
  const text = stretches.map((each) => (isCode(each) ? ' ' : each.text)).join('');
  const [live] = LIVE.exec(free) ?? PROFILE.exec(`${urls} ${text}`) ?? [];
  if (live !== undefined) throw new Error(`alive: ${live}`);
}

const PLAIN: InlineContext = { formats: new Set() };
const LINE_END: TextStretch = { text: '\n', formats: new Set() };

function readBlocks(nodes: readonly RootContent[]): TextStretch[] {
  return nodes.flatMap((node, index) =>
    index === 0 ? readBlock(node) : [LINE_END, ...readBlock(node)],
  );
}

function readBlock(node: RootContent): TextStretch[] {
  switch (node.type) {
    case 'paragraph':
    case 'heading':
      return readInlines(node.children, PLAIN);
    case 'code':
      return [{ text: node.value, formats: getCodeFormats(node.lang) }];
    case 'blockquote':
      return readBlocks(node.children);
    case 'list':
      return node.children.flatMap((item, index) => [
        ...(index === 0 ? [] : [LINE_END]),
        {
          text: formatMarker(item, node.ordered ? (node.start ?? 1) + index : undefined),
          formats: new Set<Format>(),
        },
        ...readBlocks(item.children),
      ]);
    case 'table':
      return listCells(node).flatMap((children) => [...readInlines(children, PLAIN), LINE_END]);
    case 'thematicBreak':
      return [{ text: '———', formats: new Set() }];
    default:
      throw new Error(`unexpected ${node.type}: ${JSON.stringify(node)}`);
  }
}

function formatMarker({ checked }: ListItem, number: number | undefined): string {
  const box = typeof checked !== 'boolean' ? '' : checked ? '☑ ' : '☐ ';
  if (number !== undefined) return `${number}. ${box}`;
  return box === '' ? '• ' : box;
}

function listCells({ children }: Table): PhrasingContent[][] {
  return children.flatMap((row) => row.children.map((cell) => cell.children));
}

function getCodeFormats(language: string | null | undefined): Formats {
  return new Set<Format>(language ? ['code', `language-${language}`] : ['code']);
}

interface InlineContext {
  readonly formats: Formats;
  readonly link?: { readonly url: string };
}

function readInlines(nodes: readonly PhrasingContent[], context: InlineContext): TextStretch[] {
  return nodes.flatMap((node) => readInline(node, context));
}

function readInline(node: PhrasingContent, context: InlineContext): TextStretch[] {
  const inside = (format: Format): InlineContext => ({
    ...context,
    formats: new Set([...context.formats, format]),
  });
  switch (node.type) {
    case 'text':
      // Linear and Teams show a soft line break as a space.
      if (node.value.includes('\n')) throw new Error(`a soft line break: ${node.value}`);
      return [{ text: node.value, ...context }];
    case 'inlineCode':
      return [{ text: node.value, ...inside('code') }];
    case 'break':
      return [{ text: '\n', ...context }];
    case 'strong':
      return readInlines(node.children, inside('bold'));
    case 'emphasis':
      return readInlines(node.children, inside('italic'));
    case 'delete':
      return readInlines(node.children, inside('strike'));
    case 'link':
      return readInlines(node.children, { ...inside('link'), link: { url: node.url } });
    case 'html':
      if (node.value === '<br>') return [{ text: '\n', ...context }];
      throw new Error(`HTML: ${node.value}`);
    default:
      throw new Error(`unexpected ${node.type}: ${JSON.stringify(node)}`);
  }
}
