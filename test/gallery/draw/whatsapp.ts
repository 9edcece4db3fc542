import { type FormattedLine, type Inline, parseWhatsApp } from '@parley/simulators/whatsapp';
import type { Screen } from './bubble.ts';
import { drawText } from './detected.ts';
import { escapeText } from './escape.ts';

/** WhatsApp on a phone. What its clients would disagree on counts as refused. */
export const WHATSAPP: Screen = {
  id: 'whatsapp',
  name: 'WhatsApp',
  target: { dialect: 'whatsapp', maxLength: 4096, unit: 'utf16' },
  draw: ({ text, plain }) => {
    const { lines, violations } = parseWhatsApp(text, plain);
    const [first] = violations;
    if (first !== undefined) throw new Error(`${first.kind}: ${first.text}`);
    return { html: lines.map(drawLine).join(''), length: text.length };
  },
};

function drawLine(line: FormattedLine): string {
  const content = line.children.map(drawInline).join('') || '<br>';
  if (line.kind === 'paragraph') return `<div>${content}</div>`;
  if (line.kind === 'quote') return `<blockquote>${content}</blockquote>`;
  const marker = line.kind === 'number' ? escapeText(line.number) : '•';
  return `<div class="item" dir="auto"><span>${marker}</span><div>${content}</div></div>`;
}

const TAGS = { bold: 'b', italic: 'i', strike: 's' } as const;

function drawInline(inline: Inline): string {
  switch (inline.type) {
    case 'text':
    case 'url':
      return drawText(inline.text);
    case 'code':
      return `<code>${escapeText(inline.text)}</code>`;
    case 'monospace':
      return drawMonospace(inline.text);
    default: {
      const tag = TAGS[inline.type];
      return `<${tag}>${inline.children.map(drawInline).join('')}</${tag}>`;
    }
  }
}

/** On one line it stands in the text; over several it is a block, whose first line end is not seen. */
function drawMonospace(text: string): string {
  if (!text.includes('\n')) return `<tt>${escapeText(text)}</tt>`;
  return `<pre>${escapeText(text.replace(/^\n/, '').replace(/\n$/, ''))}</pre>`;
}
