import type { ListItem, Nodes, PhrasingContent, Root, RootContent, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { Format, Formats } from './expected.ts';
import type { Stretch } from './seen.ts';

/**
 * Reads one comment on GitHub or Linear.
 * @throws Error if a comment would not show all of the text, or would notify people.
 */
export function readGfm(markdown: string): Stretch[] {
  const stretches = blocks(parseGfm(markdown).children);
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
export function readTeams(markdown: string): Stretch[] {
  const { children } = parseTeams(markdown);
  for (const node of children) refuseInTeams(node);
  return blocks(children);
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

function refuseLive(stretches: readonly Stretch[]): void {
  const isCode = ({ formats }: Stretch) => formats?.has('code') === true;
  const free = stretches.map((each) => (isCode(each) || each.link ? ' ' : each.text)).join('');
  const urls = stretches.map(({ link }) => link?.url ?? '').join(' ');
  const text = stretches.map((each) => (isCode(each) ? ' ' : each.text)).join('');
  const [live] = LIVE.exec(free) ?? PROFILE.exec(`${urls} ${text}`) ?? [];
  if (live !== undefined) throw new Error(`alive: ${live}`);
}

const PLAIN: Context = { formats: new Set() };
const LINE_END: Stretch = { text: '\n', formats: new Set() };

function blocks(nodes: readonly RootContent[]): Stretch[] {
  return nodes.flatMap((node, index) => (index === 0 ? block(node) : [LINE_END, ...block(node)]));
}

function block(node: RootContent): Stretch[] {
  switch (node.type) {
    case 'paragraph':
    case 'heading':
      return inlines(node.children, PLAIN);
    case 'code':
      return [{ text: node.value, formats: codeFormats(node.lang) }];
    case 'blockquote':
      return blocks(node.children);
    case 'list':
      return node.children.flatMap((item, index) => [
        ...(index === 0 ? [] : [LINE_END]),
        {
          text: markerOf(item, node.ordered ? (node.start ?? 1) + index : undefined),
          formats: new Set<Format>(),
        },
        ...blocks(item.children),
      ]);
    case 'table':
      return cells(node).flatMap((children) => [...inlines(children, PLAIN), LINE_END]);
    case 'thematicBreak':
      return [{ text: '———', formats: new Set() }];
    default:
      throw new Error(`unexpected ${node.type}: ${JSON.stringify(node)}`);
  }
}

function markerOf({ checked }: ListItem, number: number | undefined): string {
  const box = typeof checked !== 'boolean' ? '' : checked ? '☑ ' : '☐ ';
  if (number !== undefined) return `${number}. ${box}`;
  return box === '' ? '• ' : box;
}

function cells({ children }: Table): PhrasingContent[][] {
  return children.flatMap((row) => row.children.map((cell) => cell.children));
}

function codeFormats(language: string | null | undefined): Formats {
  return new Set<Format>(language ? ['code', `language-${language}`] : ['code']);
}

interface Context {
  readonly formats: Formats;
  readonly link?: { readonly url: string };
}

function inlines(nodes: readonly PhrasingContent[], context: Context): Stretch[] {
  return nodes.flatMap((node) => inline(node, context));
}

function inline(node: PhrasingContent, context: Context): Stretch[] {
  const inside = (format: Format): Context => ({
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
      return inlines(node.children, inside('bold'));
    case 'emphasis':
      return inlines(node.children, inside('italic'));
    case 'delete':
      return inlines(node.children, inside('strike'));
    case 'link':
      return inlines(node.children, { ...inside('link'), link: { url: node.url } });
    case 'html':
      if (node.value === '<br>') return [{ text: '\n', ...context }];
      throw new Error(`HTML: ${node.value}`);
    default:
      throw new Error(`unexpected ${node.type}: ${JSON.stringify(node)}`);
  }
}
