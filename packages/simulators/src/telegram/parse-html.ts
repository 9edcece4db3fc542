import {
  decodeReference,
  failParsing,
  getByteOffset,
  isSpace,
  parseStartTag,
  skipSpace,
} from './html-lexer.ts';

export { TelegramHtmlError } from './html-lexer.ts';

/** The formatting of a text range; offset and length are in UTF-16 units, as in the Bot API. */
export interface HtmlEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly user_id?: number;
  readonly language?: string;
  readonly custom_emoji_id?: string;
  readonly unix_time?: number;
  readonly date_time_format?: string;
}

interface OpenTag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly offset: number;
}

const TYPE_OF_TAG: Readonly<Record<string, string>> = {
  a: 'text_link',
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  'tg-emoji': 'custom_emoji',
  'tg-time': 'date_time',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};

/**
 * Parses `parse_mode: 'HTML'` like the Telegram servers: the same tags, the same four named
 * references (others stay literal), and the same refusals with byte offsets. The parser is stricter
 * in one respect: nesting that the documentation forbids (anything in `code` or `pre` except `pre >
 * code`, a quote in a quote, a link in a link) is refused, whereas the servers silently drop some
 * of the formatting.
 * @throws TelegramHtmlError with the server's wording
 */
export function parseTelegramHtml(html: string): { text: string; entities: HtmlEntity[] } {
  const open: OpenTag[] = [];
  const found: HtmlEntity[] = [];
  let text = '';
  let at = 0;
  while (at < html.length) {
    const next = html[at];
    if (next === '&') {
      const reference = decodeReference(html, at);
      text += reference.text;
      at = reference.end;
    } else if (next !== '<') {
      const plain = findNextSpecial(html, at);
      text += html.slice(at, plain);
      at = plain;
    } else if (html[at + 1] === '/') {
      at = closeTag(html, at, text, open, found);
    } else {
      const tag = parseStartTag(html, at, isSupportedTag);
      checkAttributes(html, at, tag.name, tag.attributes);
      refuseBadNesting(html, at, tag.name, open);
      open.push({ name: tag.name, attributes: tag.attributes, offset: text.length });
      at = tag.end;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) {
    failParsing(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  }
  return { text, entities: normalizeEntities(found) };
}

function isSupportedTag(tag: string): boolean {
  return Object.hasOwn(TYPE_OF_TAG, tag);
}

function findNextSpecial(html: string, from: number): number {
  let at = from;
  while (at < html.length && html[at] !== '<' && html[at] !== '&') at += 1;
  return at;
}

function checkAttributes(
  html: string,
  start: number,
  tag: string,
  attributes: ReadonlyMap<string, string>,
): void {
  if (tag === 'span' && attributes.get('class') !== 'tg-spoiler') {
    failParsing(
      `Tag "span" must have class "tg-spoiler" at byte offset ${getByteOffset(html, start)}`,
    );
  }
  if (tag === 'tg-emoji' && !/^\d+$/.test(attributes.get('emoji-id') ?? '')) {
    failParsing('Invalid custom emoji identifier specified');
  }
  if (tag === 'tg-time' && !/^\d+$/.test(attributes.get('unix') ?? '')) {
    failParsing('Invalid date entity unix time specified');
  }
}

function refuseBadNesting(html: string, at: number, tag: string, open: readonly OpenTag[]): void {
  const inner = TYPE_OF_TAG[tag];
  const parent = open.at(-1);
  for (const outer of open) {
    const type = TYPE_OF_TAG[outer.name];
    const codeInPre = outer.name === 'pre' && tag === 'code' && outer === parent;
    const verbatim = (type === 'code' || type === 'pre') && !codeInPre;
    const repeated = type === inner && (type === 'blockquote' || type === 'text_link');
    if (verbatim || repeated) {
      failParsing(
        `Tag "${tag}" can't be nested in "${outer.name}" at byte offset ${getByteOffset(html, at)}`,
      );
    }
  }
}

function closeTag(
  html: string,
  start: number,
  text: string,
  open: OpenTag[],
  found: HtmlEntity[],
): number {
  const tag = open.at(-1);
  if (tag === undefined)
    failParsing(`Unexpected end tag at byte offset ${getByteOffset(html, start)}`);
  let at = start + 2;
  while (at < html.length && !isSpace(html[at]) && html[at] !== '>') at += 1;
  const name = html.slice(start + 2, at).toLowerCase();
  at = skipSpace(html, at);
  if (html[at] !== '>')
    failParsing(`Unclosed end tag at byte offset ${getByteOffset(html, start)}`);
  if (name !== '' && name !== tag.name) {
    const where = `byte offset ${getByteOffset(html, start)}`;
    failParsing(`Unmatched end tag at ${where}, expected "</${tag.name}>", found "</${name}>"`);
  }
  open.pop();
  if (text.length > tag.offset) addEntity(tag, text, found);
  return at + 1;
}

function addEntity(tag: OpenTag, text: string, found: HtmlEntity[]): void {
  const span = { offset: tag.offset, length: text.length - tag.offset };
  const last = found.at(-1);
  if (
    tag.name === 'pre' &&
    last?.type === 'code' &&
    last.offset === span.offset &&
    last.length === span.length
  ) {
    found[found.length - 1] = { ...last, type: 'pre' };
    return;
  }
  const entity = createEntity(tag, span, text);
  if (entity !== undefined) found.push(entity);
}

function createEntity(
  tag: OpenTag,
  span: { offset: number; length: number },
  text: string,
): HtmlEntity | undefined {
  const type = TYPE_OF_TAG[tag.name] ?? tag.name;
  const attribute = (name: string) => tag.attributes.get(name) ?? '';
  switch (type) {
    case 'text_link':
      return createLinkEntity(attribute('href') || text.slice(span.offset), span);
    case 'custom_emoji':
      return { type, ...span, custom_emoji_id: attribute('emoji-id') };
    case 'date_time': {
      const format = attribute('format');
      const time = { type, ...span, unix_time: Number(attribute('unix')) };
      return format === '' ? time : { ...time, date_time_format: format };
    }
    case 'blockquote':
      return { type: tag.attributes.has('expandable') ? 'expandable_blockquote' : type, ...span };
    case 'code': {
      const language = /^language-(.+)$/s.exec(attribute('class'))?.[1];
      return language === undefined ? { type, ...span } : { type, ...span, language };
    }
    default:
      return { type, ...span };
  }
}

const SOLID = new Set(['code', 'pre', 'text_link', 'text_mention', 'custom_emoji', 'date_time']);
const MARKS = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler']);

/**
 * Computes the entities of a message in the order they are sent. Code splits the formatting around
 * it; of two nested links or code spans, only the outer one is kept.
 */
function normalizeEntities(found: readonly HtmlEntity[]): HtmlEntity[] {
  const kept: HtmlEntity[] = [];
  let solidEnd = 0;
  for (const entity of [...found].sort(compareEntities)) {
    if (!SOLID.has(entity.type)) kept.push(entity);
    else if (entity.offset >= solidEnd) {
      kept.push(entity);
      solidEnd = entity.offset + entity.length;
    }
  }
  const codes = kept.filter(isCode);
  return kept
    .flatMap((entity) => (MARKS.has(entity.type) ? splitAroundCode(entity, codes) : [entity]))
    .map((entity) => (entity.type === 'code' ? removeLanguage(entity) : entity))
    .sort(compareEntities);
}

function isCode(entity: HtmlEntity): boolean {
  return entity.type === 'code' || entity.type === 'pre';
}

function compareEntities(a: HtmlEntity, b: HtmlEntity): number {
  return a.offset - b.offset || b.length - a.length || getEntityRank(a) - getEntityRank(b);
}

function getEntityRank(entity: HtmlEntity): number {
  if (entity.type.endsWith('blockquote')) return 0;
  return isCode(entity) ? 1 : 2;
}

function splitAroundCode(mark: HtmlEntity, codes: readonly HtmlEntity[]): HtmlEntity[] {
  const end = mark.offset + mark.length;
  const pieces: HtmlEntity[] = [];
  let from = mark.offset;
  for (const code of codes) {
    if (code.offset >= end || code.offset + code.length <= mark.offset) continue;
    if (code.offset > from) pieces.push({ ...mark, offset: from, length: code.offset - from });
    from = Math.max(from, code.offset + code.length);
  }
  if (from < end) pieces.push({ ...mark, offset: from, length: end - from });
  return pieces;
}

function removeLanguage({ language: _language, ...entity }: HtmlEntity): HtmlEntity {
  return entity;
}

/**
 * Returns the entity for a link; as on the servers, a URL that cannot be opened silently loses its
 * link.
 */
function createLinkEntity(
  href: string,
  span: { readonly offset: number; readonly length: number },
): HtmlEntity | undefined {
  const user = /^tg:(?:\/\/)?user\?id=(\d{1,16})$/.exec(href)?.[1];
  if (user !== undefined) return { type: 'text_mention', ...span, user_id: Number(user) };
  const known =
    /^(?:https?|ftp|tg|ton|tonsite|mailto|tel):\S/i.test(href) ||
    /^[^\s:/]+\.[^\s:/]+(?:[:/?#]\S*)?$/.test(href);
  return known ? { type: 'text_link', ...span, url: href } : undefined;
}
