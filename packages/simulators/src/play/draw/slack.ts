import { getRichText, getTableRows } from '../../slack/blocks.ts';
import { parseMrkdwn } from '../../slack/parse-mrkdwn.ts';
import {
  type DisplayNames,
  getListMarker,
  type Inline,
  type RichText,
  toPlainElement,
} from '../../slack/rich-text.ts';
import { isRecord, type Json, toRecords } from '../../slack/wire.ts';
import { renderText } from './detected.ts';
import { escapeText } from './escape.ts';

/** Renders the blocks of a message as Slack shows them; the page renders the buttons. */
export function renderSlack(blocks: readonly Json[], names: DisplayNames): string {
  return blocks.map((block) => renderBlock(block, names)).join('');
}

function renderBlock(block: Json, names: DisplayNames): string {
  switch (block.type) {
    case 'rich_text':
      return renderRichText(getRichText(block), names);
    case 'header':
      return `<div class="heading-1">${escapeText(getText(block.text))}</div>`;
    case 'section':
      return [block.text, ...toRecords(block.fields)]
        .map((text) => renderTextObject(text, names))
        .join('');
    case 'context': {
      const parts = toRecords(block.elements).map((one) =>
        one.type === 'image'
          ? escapeText(String(one.alt_text ?? ''))
          : renderTextObject(one, names),
      );
      return `<small>${parts.join(' ')}</small>`;
    }
    case 'divider':
      return '<hr>';
    case 'table':
      return renderTable(block, names);
    case 'image':
      return `<div>🖼 ${escapeText(String(block.alt_text ?? ''))}</div>`;
    default:
      return `<div>${escapeText(getText(block.text))}</div>`;
  }
}

function renderTable(block: Json, names: DisplayNames): string {
  const rows = getTableRows(block).map((row) => {
    const cells = row.map((cell) =>
      cell.type === 'rich_text'
        ? renderRichText(getRichText(cell), names)
        : escapeText(String(cell.text ?? '')),
    );
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

function renderTextObject(value: unknown, names: DisplayNames): string {
  if (!isRecord(value)) return '';
  const text = String(value.text ?? '');
  if (value.type === 'mrkdwn') return renderRichText(parseMrkdwn(text), names);
  return `<div>${escapeText(text)}</div>`;
}

function renderRichText(parts: readonly RichText[], names: DisplayNames): string {
  return parts
    .map((part) => {
      if (part.type === 'rich_text_list') return renderList(part, names);
      const content = renderInline(part.elements, names);
      if (part.type === 'rich_text_quote') return `<blockquote><div>${content}</div></blockquote>`;
      if (part.type === 'rich_text_preformatted') return `<pre>${content}</pre>`;
      // HTML does not display a line end at the end of a block.
      return `<div>${content.replace(/\n$/, '\n\u200b')}</div>`;
    })
    .join('');
}

function renderList(
  part: Extract<RichText, { type: 'rich_text_list' }>,
  names: DisplayNames,
): string {
  return part.elements
    .map(({ elements }, index) => {
      const marker = getListMarker(part.style, index + (part.offset ?? 0));
      const indent = '<span class="indent"></span>'.repeat(part.indent);
      return `<div class="item" dir="auto">${indent}<span>${marker}</span><div>${renderInline(elements, names)}</div></div>`;
    })
    .join('');
}

const TAGS = [
  ['code', 'code'],
  ['strike', 's'],
  ['italic', 'i'],
  ['bold', 'b'],
] as const;

function renderInline(elements: readonly Inline[], names: DisplayNames): string {
  return elements
    .map((element) => {
      const open = TAGS.filter(([style]) => element.style?.[style] === true);
      return open.reduce(
        (html, [, tag]) => `<${tag}>${html}</${tag}>`,
        renderElement(element, names),
      );
    })
    .join('');
}

function renderElement(element: Inline, names: DisplayNames): string {
  const text = toPlainElement(element, names);
  switch (element.type) {
    case 'text':
      return element.style?.code ? escapeText(text) : renderText(text);
    case 'link':
      return `<span class="link" title="${escapeText(element.url)}">${escapeText(text)}</span>`;
    case 'emoji':
      return escapeText(text);
    default:
      return `<span class="live">${escapeText(text)}</span>`;
  }
}

function getText(value: unknown): string {
  return isRecord(value) ? String(value.text ?? '') : '';
}
