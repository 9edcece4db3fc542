import type { RenderedPart } from '@parley/contracts';

/** Longest text Telegram takes, in UTF-16 units; it counts code points, which are never more. */
export const MAX_TEXT = 4096;
/** Longest text below a file, counted alike. */
export const MAX_CAPTION = 1024;

const CHARACTER: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * The words of a part without markup. Written-out addresses can make `plain` longer than Telegram
 * takes; then it is what the markup would have shown, which fits because it was split to fit.
 */
export function plainText(body: RenderedPart, limit: number = MAX_TEXT): string {
  return body.plain.length <= limit ? body.plain : withoutTags(body.text);
}

/** Whether the words of a part fit below a file. */
export function fitsCaption(body: RenderedPart): boolean {
  return withoutTags(body.text).length <= MAX_CAPTION;
}

function withoutTags(html: string): string {
  const text = html.replace(/<\/?[a-z][^<>]*>/gi, '');
  return text.replace(
    /&(lt|gt|amp|quot);/g,
    (reference, name: string) => CHARACTER[name] ?? reference,
  );
}
