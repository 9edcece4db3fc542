import type { FormattedLine, Inline } from '../../formatting/marked-lines.ts';
import { renderText } from './detected.ts';
import { escapeText } from './escape.ts';

/** Renders the lines of a message from WhatsApp, Slack or Google Chat. */
export function renderMarkedLines(lines: readonly FormattedLine[]): string {
  return lines.map(renderLine).join('');
}

function renderLine(line: FormattedLine): string {
  const content = line.children.map(renderInline).join('') || '<br>';
  if (line.kind === 'paragraph') return `<div>${content}</div>`;
  if (line.kind === 'quote') return `<blockquote>${content}</blockquote>`;
  const marker = line.kind === 'number' ? escapeText(line.number) : '•';
  return `<div class="item" dir="auto"><span>${marker}</span><div>${content}</div></div>`;
}

const TAGS = { bold: 'b', italic: 'i', strike: 's' } as const;

function renderInline(inline: Inline): string {
  switch (inline.type) {
    case 'text':
    case 'url':
      return renderText(inline.text);
    case 'link':
      return `<span class="link" title="${escapeText(inline.url)}">${escapeText(inline.text)}</span>`;
    case 'code':
      return `<code>${escapeText(inline.text)}</code>`;
    case 'monospace':
      return renderMonospace(inline.text);
    default: {
      const tag = TAGS[inline.type];
      return `<${tag}>${inline.children.map(renderInline).join('')}</${tag}>`;
    }
  }
}

/**
 * Monospace on one line is inline; monospace over several lines is a block, whose first and last
 * line ends are invisible.
 */
function renderMonospace(text: string): string {
  if (!text.includes('\n')) return `<tt>${escapeText(text)}</tt>`;
  return `<pre>${escapeText(text.replace(/^\n/, '').replace(/\n$/, ''))}</pre>`;
}
