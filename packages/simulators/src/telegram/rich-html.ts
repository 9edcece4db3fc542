import { decodeReference } from './html-lexer.ts';

/** An element of rich HTML; text nodes are strings. */
export interface RichElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: RichNode[];
}
export type RichNode = string | RichElement;

/** The reason why rich HTML is refused, without the prefix "Bad Request: ". */
export class RichHtmlError extends Error {
  override readonly name = 'RichHtmlError';
}

/** Inline tags with their permitted attributes. */
const INLINE: Readonly<Record<string, readonly string[]>> = {
  ...{ b: [], strong: [], i: [], em: [], u: [], ins: [], s: [], strike: [], del: [] },
  ...{ code: ['class'], mark: [], sub: [], sup: [], 'tg-spoiler': [], 'tg-math': [] },
  ...{ a: ['href', 'name'], 'tg-reference': ['name'], 'tg-time': ['unix', 'format'] },
  ...{ 'tg-emoji': ['emoji-id'], br: [] },
};

/** Block tags with their permitted attributes. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  ...{ h1: [], h2: [], h3: [], h4: [], h5: [], h6: [], p: [], pre: [], footer: [], hr: [] },
  ...{ ul: [], ol: ['start', 'type', 'reversed'], blockquote: ['expandable'], aside: [] },
  ...{ table: ['bordered', 'striped', 'compact'], details: ['open'], 'tg-math-block': [] },
};

/** Tags that may occur only inside one particular block. */
const PARTS: Readonly<Record<string, readonly [parent: string, attributes: readonly string[]]>> = {
  tr: ['table', []],
  th: ['tr', ['colspan', 'rowspan', 'align', 'valign']],
  td: ['tr', ['colspan', 'rowspan', 'align', 'valign']],
  caption: ['table', []],
  summary: ['details', []],
  input: ['li', ['type', 'checked']],
};

const VOID = new Set(['br', 'hr', 'input']);
/** Blocks that contain formatted text but no other blocks. */
const TEXT_ONLY = new Set([
  ...Object.keys(INLINE),
  ...['p', 'pre', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ...['th', 'td', 'caption', 'summary', 'tg-math-block'],
]);

/**
 * Parses the HTML of a rich message, which may contain only documented tags and attributes, each
 * where it is allowed, with every tag closed. Media, maps and buttons in rich messages are not
 * supported.
 * @throws RichHtmlError
 */
export function parseRichHtml(html: string): RichNode[] {
  const root: RichElement = { name: '', attributes: new Map(), children: [] };
  const open: RichElement[] = [root];
  let at = 0;
  while (at < html.length) {
    const inside = open.at(-1) ?? root;
    if (html[at] !== '<') {
      const { text, end } = parseTextNode(html, at);
      inside.children.push(text);
      at = end;
      continue;
    }
    const tag = parseTag(html, at);
    at = tag.end;
    if (tag.isEnd) {
      if (open.length === 1 || inside.name !== tag.name)
        throw new RichHtmlError(`Unmatched end tag "${tag.name}"`);
      open.pop();
      continue;
    }
    const { name, attributes } = tag;
    checkPosition(name, attributes, open);
    const element: RichElement = { name, attributes, children: [] };
    inside.children.push(element);
    if (!VOID.has(name)) open.push(element);
  }
  const unclosed = open.at(-1)?.name;
  if (unclosed !== '') throw new RichHtmlError(`Can't find end tag of "${unclosed}"`);
  return root.children;
}

function parseTextNode(html: string, from: number): { text: string; end: number } {
  let text = '';
  let at = from;
  while (at < html.length && html[at] !== '<') {
    if (html[at] === '&') {
      const reference = decodeReference(html, at);
      text += reference.text;
      at = reference.end;
    } else {
      text += html[at];
      at += 1;
    }
  }
  return { text, end: at };
}

interface ParsedTag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
}

function parseTag(html: string, start: number): ParsedTag {
  const close = html.indexOf('>', start);
  const inside = html.slice(start + 1, close);
  const [, slash, name = '', rest = ''] = /^(\/?)([a-z][a-z0-9-]*)([^<]*)$/i.exec(inside) ?? [];
  if (close < 0 || name === '') throw new RichHtmlError('Unclosed or empty tag');
  const attributes = new Map<string, string>();
  for (const [, key = '', value = ''] of rest.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi))
    attributes.set(key.toLowerCase(), parseTextNode(value, 0).text);
  return { name: name.toLowerCase(), isEnd: slash === '/', attributes, end: close + 1 };
}

function checkPosition(
  name: string,
  attributes: ReadonlyMap<string, string>,
  open: readonly RichElement[],
): void {
  const parent = open.at(-1)?.name ?? '';
  const part = PARTS[name];
  const known = name === 'li' ? ['value', 'type'] : (INLINE[name] ?? BLOCKS[name] ?? part?.[1]);
  if (known === undefined) throw new RichHtmlError(`Unsupported start tag "${name}"`);
  const strange = [...attributes.keys()].find((attribute) => !known.includes(attribute));
  if (strange !== undefined) throw new RichHtmlError(`Tag "${name}" has no attribute "${strange}"`);
  const isAtPlace =
    name === 'li'
      ? parent === 'ul' || parent === 'ol'
      : part !== undefined
        ? parent === part[0]
        : parent !== 'ul' && parent !== 'ol' && parent !== 'table' && parent !== 'tr';
  const isBlockInText = BLOCKS[name] !== undefined && TEXT_ONLY.has(parent);
  const isInRaw = parent === 'tg-math' || parent === 'tg-math-block' || parent === 'code';
  const isInPre = parent === 'pre' && name !== 'code';
  if (!isAtPlace || isBlockInText || isInRaw || isInPre)
    throw new RichHtmlError(`Tag "${name}" can't be in "${parent || 'the message'}"`);
}
