import { parseObjectParam } from './parameters.ts';
import { createBadRequestRefusal, type RequestParams } from './request.ts';
import { parseRichHtml, type RichElement, RichHtmlError, type RichNode } from './rich-html.ts';
import type { WireMessage } from './wire.ts';

const FIELDS = ['html', 'markdown', 'blocks', 'media', 'is_rtl', 'skip_entity_detection'] as const;

/**
 * The documented limits for characters, blocks (including list items and rows), levels and columns.
 */
const MAX = { characters: 32_768, blocks: 500, levels: 16, columns: 20 } as const;

/**
 * Parses `rich_message`, as sendRichMessage and editMessageText do; undefined when absent.
 * @throws Refusal with status 400 when the HTML is invalid or exceeds a limit
 */
export function parseRichMessage(params: RequestParams): Partial<WireMessage> | undefined {
  const rich = parseObjectParam(params, 'rich_message', FIELDS);
  if (rich === undefined) return undefined;
  if (params.text('text') !== undefined)
    throw createBadRequestRefusal('text and rich_message are both given');
  const forms = ['html', 'markdown', 'blocks'].filter((name) => rich.values[name] !== undefined);
  if (forms.length !== 1)
    throw createBadRequestRefusal(
      'exactly one of html, markdown and blocks must be in a rich message',
    );
  const html = rich.text('html');
  if (html === undefined)
    throw createBadRequestRefusal('this double only reads the html of rich messages');
  const nodes = parseOrRefuse(html);
  checkLimits(nodes);
  const blocks = toBlocks(nodes);
  if (getRichText(blocks).trim() === '') throw createBadRequestRefusal('message text is empty');
  return { rich_message: { blocks } };
}

function parseOrRefuse(html: string): RichNode[] {
  try {
    return parseRichHtml(html);
  } catch (error) {
    if (error instanceof RichHtmlError)
      throw createBadRequestRefusal(`can't parse rich message: ${error.message}`);
    throw error;
  }
}

const COUNTED =
  /^(?:h[1-6]|p|pre|footer|hr|ul|ol|li|tr|table|blockquote|aside|details|tg-math-block)$/;

function checkLimits(nodes: readonly RichNode[]): void {
  const found = { characters: 0, blocks: 0, levels: 0, columns: 0 };
  const visit = (node: RichNode, level: number): void => {
    if (typeof node === 'string') {
      found.characters += [...node].length;
      return;
    }
    found.levels = Math.max(found.levels, level);
    if (COUNTED.test(node.name)) found.blocks += 1;
    if (node.name === 'tr') found.columns = Math.max(found.columns, node.children.length);
    for (const child of node.children) visit(child, level + 1);
  };
  for (const node of nodes) visit(node, 1);
  for (const [name, most] of Object.entries(MAX)) {
    const count = found[name as keyof typeof found];
    if (count > most)
      throw createBadRequestRefusal(`RICH_MESSAGE_TOO_LARGE: ${count} ${name}, at most ${most}`);
  }
}

/** A block in the Bot API's format, limited to the supported fields. */
type RichBlock = Readonly<Record<string, unknown>>;

function toBlocks(nodes: readonly RichNode[]): RichBlock[] {
  const blocks: RichBlock[] = [];
  let line: RichNode[] = [];
  const endLine = (): void => {
    const text = toRichText(line);
    if (getRichText(text).trim() !== '') blocks.push({ type: 'paragraph', text });
    line = [];
  };
  for (const node of nodes) {
    const block = typeof node === 'string' ? undefined : toBlock(node);
    if (block === undefined) line.push(node);
    else {
      endLine();
      blocks.push(block);
    }
  }
  endLine();
  return blocks;
}

function toBlock({ name, children, attributes }: RichElement): RichBlock | undefined {
  const size = /^h([1-6])$/.exec(name)?.[1];
  if (size !== undefined)
    return { type: 'heading', text: toRichText(children), size: Number(size) };
  switch (name) {
    case 'p':
      return { type: 'paragraph', text: toRichText(children) };
    case 'footer':
      return { type: 'footer', text: toRichText(children) };
    case 'hr':
      return { type: 'divider' };
    case 'pre':
      return toPreBlock(children);
    case 'tg-math-block':
      return { type: 'mathematical_expression', expression: getRichText(children) };
    case 'blockquote':
    case 'aside':
      return { type: 'blockquote', blocks: toBlocks(children) };
    case 'ul':
    case 'ol':
      return { type: 'list', items: listElements(children).map(toListItem) };
    case 'details':
      return toDetailsBlock(children, attributes.has('open'));
    case 'table':
      return {
        type: 'table',
        cells: listElements(children).map(({ children: row }) => toCells(row)),
      };
    default:
      return undefined;
  }
}

function listElements(nodes: readonly RichNode[]): RichElement[] {
  return nodes.filter((node) => typeof node !== 'string');
}

function toPreBlock(children: readonly RichNode[]): RichBlock {
  const [code] = listElements(children);
  const language = /^language-(.+)$/.exec(code?.attributes.get('class') ?? '')?.[1];
  return { type: 'pre', text: getRichText(children), ...(language !== undefined && { language }) };
}

function toListItem({ children, attributes }: RichElement): RichBlock {
  const value = attributes.get('value');
  const box = listElements(children).find(({ name }) => name === 'input');
  return {
    label: value === undefined ? '•' : `${value}.`,
    blocks: toBlocks(children.filter((node) => node !== box)),
    ...(value !== undefined && { value: Number(value) }),
    ...(box !== undefined && { has_checkbox: true }),
    ...(box?.attributes.has('checked') && { is_checked: true }),
  };
}

function toDetailsBlock(children: readonly RichNode[], isOpen: boolean): RichBlock {
  const summary = listElements(children).find(({ name }) => name === 'summary');
  const blocks = toBlocks(children.filter((node) => node !== summary));
  const text = toRichText(summary?.children ?? []);
  return { type: 'details', summary: text, blocks, ...(isOpen && { is_open: true }) };
}

function toCells(row: readonly RichNode[]): RichBlock[] {
  return listElements(row).map(({ name, attributes, children }) => ({
    text: toRichText(children),
    ...(name === 'th' && { is_header: true }),
    align: attributes.get('align') ?? 'left',
    valign: attributes.get('valign') ?? 'top',
  }));
}

const FORMATS: Readonly<Record<string, string>> = {
  ...{ b: 'bold', strong: 'bold', i: 'italic', em: 'italic', u: 'underline', ins: 'underline' },
  ...{ s: 'strikethrough', strike: 'strikethrough', del: 'strikethrough', code: 'code' },
  ...{ 'tg-spoiler': 'spoiler', mark: 'marked', sub: 'subscript', sup: 'superscript' },
};

/** Formatted text: a string, an object that formats other text, or a list of both. */
function toRichText(nodes: readonly RichNode[]): unknown {
  const texts = nodes.map((node): unknown => {
    if (typeof node === 'string') return node;
    const { name, children, attributes } = node;
    if (name === 'br') return '\n';
    if (name === 'tg-math')
      return { type: 'mathematical_expression', expression: getRichText(children) };
    const text = toRichText(children);
    const url = attributes.get('href');
    if (url !== undefined) return { type: 'url', text, url };
    const type = FORMATS[name];
    return type === undefined ? text : { type, text };
  });
  return texts.length === 1 ? texts[0] : texts;
}

/**
 * Returns the visible text of blocks, formatted text or HTML, with one line per block, row and
 * item.
 */
export function getRichText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    const isBlocks = value.some((item) => isObject(item) && isBlock(item));
    return value.map(getRichText).join(isBlocks ? '\n' : '');
  }
  if (!isObject(value)) return '';
  if (value.type === 'divider') return '———';
  if (value.type === 'list' && Array.isArray(value.items))
    return value.items
      .map((item) => `${getItemLabel(item)} ${getRichText(item.blocks)}`)
      .join('\n');
  if (Array.isArray(value.cells))
    return value.cells.map((row: unknown[]) => row.map(getRichText).join(' | ')).join('\n');
  if (value.type === 'details')
    return `${getRichText(value.summary)}\n${getRichText(value.blocks)}`;
  return getRichText(value.expression ?? value.text ?? value.blocks ?? value.children ?? '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const BLOCK_TYPES = new Set(
  'paragraph heading footer divider pre blockquote list details table'.split(' '),
);

function isBlock({ type, expression, size }: Record<string, unknown>): boolean {
  return BLOCK_TYPES.has(String(type)) || (expression !== undefined && size !== undefined);
}

function getItemLabel(item: Record<string, unknown>): string {
  const box = item.is_checked === true ? '☑' : '☐';
  const number = item.value === undefined ? '' : `${item.label} `;
  return item.has_checkbox === true ? number + box : String(item.label);
}
