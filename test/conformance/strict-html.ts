import type { Format } from './markup/expected.ts';
import type { TextStretch } from './markup/seen.ts';

/** Every start tag that the web printer may write, with exactly its allowed attributes. */
const START_TAGS: readonly RegExp[] = [
  /^<(?:p|h[1-6]|strong|em|u|del|code|pre|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|br|hr)>$/,
  /^<(?:th|td) class="(?:left|right|center)">$/,
  /^<li value="\d{1,9}">$/,
  /^<li class="continued">$/,
  /^<span class="(?:spoiler|math)">$/,
  /^<code class="language-[\w+#.-]+">$/,
  /^<input type="checkbox" disabled(?: checked)?>$/,
  /^<a href="(?:https?:|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">$/i,
];

const VOID = new Set(['br', 'hr', 'input']);
const LISTS = ['ul', 'ol'];
const FLOW = ['', 'blockquote', 'li'];
const INLINE = ['p', 'h', 'li', 'th', 'td', 'strong', 'em', 'u', 'del', 'span', 'a', 'code'];

/** The allowed parents of each tag; `''` is the top level, `h` any heading. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  p: FLOW,
  h: FLOW,
  hr: FLOW,
  pre: FLOW,
  blockquote: FLOW,
  ul: FLOW,
  ol: FLOW,
  table: FLOW,
  li: LISTS,
  input: ['li'],
  thead: ['table'],
  tbody: ['table'],
  tr: ['thead', 'tbody'],
  th: ['tr'],
  td: ['tr'],
  code: [...INLINE, 'pre'],
};

const FORMAT: Readonly<Record<string, Format>> = {
  strong: 'bold',
  em: 'italic',
  u: 'underline',
  del: 'strike',
  span: 'spoiler',
  code: 'code',
  pre: 'code',
  a: 'link',
};

const CHARACTER: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

interface OpenTag {
  readonly name: string;
  readonly format?: Format;
  readonly language?: Format;
  readonly link?: { readonly url: string };
}

/**
 * Reads HTML that may contain only trusted markup: known tags and attributes, properly nested,
 * everything else escaped.
 * @returns the visible text, with bullets, numbers and checkboxes as characters.
 * @throws Error at the first disallowed construct.
 */
export function readStrictHtml(html: string): TextStretch[] {
  const open: OpenTag[] = [];
  const seen: TextStretch[] = [];
  for (const [piece] of html.matchAll(/<[^>]*>?|[^<]+/g)) {
    if (!piece.startsWith('<')) {
      if (!INLINE.concat('pre').includes(getElementKind(open.at(-1)?.name ?? ''))) {
        throw new Error(`text outside of a block: ${piece}`);
      }
      seen.push(createStretch(unescapeHtml(piece), open));
      continue;
    }
    const name = /^<\/?([a-z0-9]+)/.exec(piece)?.[1] ?? '';
    if (piece === `</${name}>`) {
      if (open.pop()?.name !== name) throw new Error(`badly nested: ${piece} in ${html}`);
      if (FORMAT[name] === undefined || name === 'pre') seen.push(createStretch('\n', open));
      continue;
    }
    if (!START_TAGS.some((allowed) => allowed.test(piece))) throw new Error(`illegal: ${piece}`);
    refuseBadNesting(name, open);
    const drawn = getDrawnText(name, piece, open);
    if (drawn !== '') seen.push(createStretch(drawn, open));
    if (!VOID.has(name)) open.push(parseOpenTag(name, piece));
  }
  if (open.length > 0) throw new Error(`not closed: ${open.map(({ name }) => name).join(' ')}`);
  return seen;
}

function getElementKind(name: string): string {
  return /^h[1-6]$/.test(name) ? 'h' : name;
}

function refuseBadNesting(name: string, open: readonly OpenTag[]): void {
  const parent = getElementKind(open.at(-1)?.name ?? '');
  if (!(PARENTS[getElementKind(name)] ?? INLINE).includes(parent)) {
    throw new Error(`<${name}> in <${parent}>`);
  }
  if (['a', 'code'].includes(name) && open.some((outer) => outer.name === name)) {
    throw new Error(`<${name}> in <${name}>`);
  }
}

function parseOpenTag(name: string, piece: string): OpenTag {
  // A formula looks like the text around it until the page replaces it.
  const format = piece === '<span class="math">' ? undefined : FORMAT[name];
  const language = /class="(language-[^"]*)"/.exec(piece)?.[1]?.slice('language-'.length);
  const url = /href="([^"]*)"/.exec(piece)?.[1];
  return {
    name,
    ...(format === undefined ? {} : { format }),
    ...(language === undefined ? {} : { language: `language-${language}` as const }),
    ...(url === undefined ? {} : { link: { url: unescapeHtml(url) } }),
  };
}

/** The text that a browser draws for the tag itself. */
function getDrawnText(name: string, piece: string, open: readonly OpenTag[]): string {
  if (name === 'br') return '\n';
  if (name === 'hr') return '———';
  if (name === 'input') return piece.includes('checked') ? '☑' : '☐';
  if (name !== 'li' || piece.includes('continued')) return '';
  const value = /value="(\d+)"/.exec(piece)?.[1];
  if ((value !== undefined) !== (open.at(-1)?.name === 'ol')) throw new Error(`number: ${piece}`);
  return value === undefined ? '•' : `${value}.`;
}

function createStretch(text: string, open: readonly OpenTag[]): TextStretch {
  const link = open.find((tag) => tag.link !== undefined)?.link;
  const formats = open.flatMap(({ format, language }) => [format ?? [], language ?? []].flat());
  return { text, formats: new Set(formats), ...(link === undefined ? {} : { link }) };
}

function unescapeHtml(text: string): string {
  if (/[>"]|&(?!(?:amp|lt|gt|quot);)/.test(text)) throw new Error(`not escaped: ${text}`);
  return text.replaceAll(/&(\w+);/g, (_, name: string) => CHARACTER[name] ?? '');
}
