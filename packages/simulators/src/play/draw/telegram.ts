import type { HtmlEntity } from '../../telegram/parse-html.ts';
import { renderText } from './detected.ts';
import { escapeText } from './escape.ts';

/** Renders a text as Telegram shows it, from the entities that its servers found. */
export function renderTelegram(text: string, entities: readonly HtmlEntity[]): string {
  return renderRange(text, 0, text.length, entities);
}

const TAGS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  bold: ['<b>', '</b>'],
  italic: ['<i>', '</i>'],
  underline: ['<u>', '</u>'],
  strikethrough: ['<s>', '</s>'],
  spoiler: ['<span class="hidden-text" tabindex="0">', '</span>'],
  code: ['<code>', '</code>'],
  blockquote: ['<blockquote>', '</blockquote>'],
  expandable_blockquote: ['<blockquote>', '</blockquote>'],
  text_link: ['<span class="link">', '</span>'],
  text_mention: ['<span class="link">', '</span>'],
};

/** Renders a range of the text; `entities` are inside the range, outer entities first. */
function renderRange(
  text: string,
  from: number,
  to: number,
  entities: readonly HtmlEntity[],
): string {
  let html = '';
  let at = from;
  let rest = entities;
  for (let entity = rest[0]; entity !== undefined; entity = rest[0]) {
    const end = entity.offset + entity.length;
    const inside = rest.slice(1).filter(({ offset }) => offset < end);
    rest = rest.slice(1 + inside.length);
    const isBlock = entity.type === 'pre' || entity.type.endsWith('blockquote');
    const before = text.slice(at, entity.offset);
    html += renderText(isBlock ? trimBeforeBlock(before) : before, 'telegram');
    html += renderEntity(text, entity, inside);
    at = isBlock && text[end] === '\n' ? end + 1 : end;
  }
  return html + renderText(text.slice(at, to), 'telegram');
}

/**
 * A block starts on a new line, so the line end before the block is omitted; an empty line before
 * it is kept.
 */
function trimBeforeBlock(text: string): string {
  return text.replace(/\n$/, '').replace(/\n$/, '\n\u200b');
}

function renderEntity(text: string, entity: HtmlEntity, inside: readonly HtmlEntity[]): string {
  const { type, offset, length, language } = entity;
  const content = text.slice(offset, offset + length);
  if (type === 'code') return `<code>${escapeText(content)}</code>`;
  if (type === 'pre') {
    const title = language === undefined ? '' : `<span>${escapeText(language)}</span>`;
    return `<div class="code">${title}<pre>${escapeText(content)}</pre></div>`;
  }
  const [open, close] = TAGS[type] ?? ['', ''];
  return open + renderRange(text, offset, offset + length, inside) + close;
}
