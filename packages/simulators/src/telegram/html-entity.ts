/** One format over a stretch of text; offset and length are UTF-16 units, as on the wire. */
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

const SOLID = new Set(['code', 'pre', 'text_link', 'text_mention', 'custom_emoji', 'date_time']);
const MARKS = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler']);

/**
 * The entities a message ends up with, in the order they are sent. Code splits the marks round it;
 * of two links or codes, one inside the other, the outer one stays.
 */
export function settleEntities(found: readonly HtmlEntity[]): HtmlEntity[] {
  const kept: HtmlEntity[] = [];
  let solidEnd = 0;
  for (const entity of [...found].sort(inOrder)) {
    if (!SOLID.has(entity.type)) kept.push(entity);
    else if (entity.offset >= solidEnd) {
      kept.push(entity);
      solidEnd = entity.offset + entity.length;
    }
  }
  const codes = kept.filter(isCode);
  return kept
    .flatMap((entity) => (MARKS.has(entity.type) ? cutAround(entity, codes) : [entity]))
    .map((entity) => (entity.type === 'code' ? withoutLanguage(entity) : entity))
    .sort(inOrder);
}

function isCode(entity: HtmlEntity): boolean {
  return entity.type === 'code' || entity.type === 'pre';
}

function inOrder(a: HtmlEntity, b: HtmlEntity): number {
  return a.offset - b.offset || b.length - a.length || rank(a) - rank(b);
}

function rank(entity: HtmlEntity): number {
  if (entity.type.endsWith('blockquote')) return 0;
  return isCode(entity) ? 1 : 2;
}

function cutAround(mark: HtmlEntity, codes: readonly HtmlEntity[]): HtmlEntity[] {
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

function withoutLanguage({ language: _language, ...entity }: HtmlEntity): HtmlEntity {
  return entity;
}

/**
 * The entity that an address makes of a stretch of text. An address the servers would not open loses
 * its link without a word, as there.
 */
export function linkEntity(
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
