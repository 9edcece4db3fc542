import { getRichText } from './blocks.ts';
import { parseMrkdwn } from './parse-mrkdwn.ts';
import type { Inline, RichText } from './rich-text.ts';
import { isRecord, type Json, toRecords } from './wire.ts';

/** Names and patterns of markup that Slack does not render. */
const FOREIGN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Markdown **bold**', /\*\*[^\s*][^\n]*?\*\*/],
  ['a Markdown [link](…)', /\[[^\]\n]+\]\(https?:[^)\s]+\)/],
  ['a Markdown # heading', /^#{1,6} \S/m],
  ['a Markdown table', /^\|(?:[ :]*-+[ :]*\|)+ *$/m],
  ['an HTML tag', /<\/?(?:b|i|u|s|a|p|br|code|pre|strong|em|ul|li)\b[^>]*>/i],
];

/** Finds markup that Slack does not render in the text of blocks; code is skipped. */
export function findViolations(blocks: readonly Json[]): string[] {
  const text = toUnformattedText(blocks);
  return FOREIGN.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
}

function toUnformattedText(blocks: readonly Json[]): string {
  return blocks
    .flatMap((block) => {
      if (block.type === 'rich_text') return toUnformattedRichText(getRichText(block));
      return [block.text, ...toRecords(block.fields), ...toRecords(block.elements)]
        .filter(isRecord)
        .map(({ type, text }) =>
          type === 'mrkdwn' ? toUnformattedRichText(parseMrkdwn(String(text))) : '',
        );
    })
    .join('\n');
}

/** Returns the text pieces of rich text, excluding code. */
function toUnformattedRichText(parts: readonly RichText[]): string {
  const inline = (elements: readonly Inline[]) => elements.map(toUnformattedPiece).join('');
  return parts
    .map((part) => {
      if (part.type === 'rich_text_preformatted') return '';
      if (part.type !== 'rich_text_list') return inline(part.elements);
      return part.elements.map(({ elements }) => inline(elements)).join('\n');
    })
    .join('\n');
}

function toUnformattedPiece(element: Inline): string {
  if (element.style?.code) return '';
  if (element.type === 'link') return element.text ?? element.url;
  return element.type === 'text' ? element.text : '';
}
