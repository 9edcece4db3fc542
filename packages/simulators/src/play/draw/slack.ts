import { getRichText, getTableRows } from '../../slack/blocks.ts';
import { parseMrkdwn } from '../../slack/parse-mrkdwn.ts';
import {
  getListMarker,
  type Inline,
  type Names,
  type RichText,
  toPlainElement,
} from '../../slack/rich-text.ts';
import { isRecord, type Json, toRecords } from '../../slack/wire.ts';
import { drawText } from './detected.ts';
import { escapeText } from './escape.ts';

/** Renders the blocks of a message as Slack shows them; the page renders the buttons. */
export function drawSlack(blocks: readonly Json[], names: Names): string {
  return blocks.map((block) => drawBlock(block, names)).join('');
}

function drawBlock(block: Json, names: Names): string {
  switch (block.type) {
    case 'rich_text':
      return drawRichText(getRichText(block), names);
    case 'header':
      return `<div class="heading-1">${escapeText(getText(block.text))}</div>`;
    case 'section':
      return [block.text, ...toRecords(block.fields)]
        .map((text) => drawTextObject(text, names))
        .join('');
    case 'context': {
      const parts = toRecords(block.elements).map((one) =>
        one.type === 'image' ? escapeText(String(one.alt_text ?? '')) : drawTextObject(one, names),
      );
      return `<small>${parts.join(' ')}</small>`;
    }
    case 'divider':
      return '<hr>';
    case 'table':
      return drawTable(block, names);
    case 'image':
      return `<div>🖼 ${escapeText(String(block.alt_text ?? ''))}</div>`;
    default:
      return `<div>${escapeText(getText(block.text))}</div>`;
  }
}

function drawTable(block: Json, names: Names): string {
  const rows = getTableRows(block).map((row) => {
    const cells = row.map((cell) =>
      cell.type === 'rich_text'
        ? drawRichText(getRichText(cell), names)
        : escapeText(String(cell.text ?? '')),
    );
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

function drawTextObject(value: unknown, names: Names): string {
  if (!isRecord(value)) return '';
  const text = String(value.text ?? '');
  if (value.type === 'mrkdwn') return drawRichText(parseMrkdwn(text), names);
  return `<div>${escapeText(text)}</div>`;
}

function drawRichText(parts: readonly RichText[], names: Names): string {
  return parts
    .map((part) => {
      if (part.type === 'rich_text_list') return drawList(part, names);
      const content = drawInline(part.elements, names);
      if (part.type === 'rich_text_quote') return `<blockquote><div>${content}</div></blockquote>`;
      if (part.type === 'rich_text_preformatted') return `<pre>${content}</pre>`;
      // HTML does not display a line end at the end of a block.
      return `<div>${content.replace(/\n$/, '\n\u200b')}</div>`;
    })
    .join('');
}

function drawList(part: Extract<RichText, { type: 'rich_text_list' }>, names: Names): string {
  return part.elements
    .map(({ elements }, index) => {
      const marker = getListMarker(part.style, index + (part.offset ?? 0));
      const indent = '<span class="indent"></span>'.repeat(part.indent);
      return `<div class="item" dir="auto">${indent}<span>${marker}</span><div>${drawInline(elements, names)}</div></div>`;
    })
    .join('');
}

const TAGS = [
  ['code', 'code'],
  ['strike', 's'],
  ['italic', 'i'],
  ['bold', 'b'],
] as const;

function drawInline(elements: readonly Inline[], names: Names): string {
  return elements
    .map((element) => {
      const open = TAGS.filter(([style]) => element.style?.[style] === true);
      return open.reduce(
        (html, [, tag]) => `<${tag}>${html}</${tag}>`,
        drawElement(element, names),
      );
    })
    .join('');
}

function drawElement(element: Inline, names: Names): string {
  const text = toPlainElement(element, names);
  switch (element.type) {
    case 'text':
      return element.style?.code ? escapeText(text) : drawText(text);
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
