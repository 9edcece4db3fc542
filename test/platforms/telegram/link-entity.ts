import type { HtmlEntity } from './html-entity.ts';

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
