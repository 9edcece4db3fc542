import { parseTelegramHtml } from '@parley/simulators/telegram';
import type { Format } from './expected.ts';
import type { TextStretch } from './seen.ts';

const FORMAT: Readonly<Record<string, Format>> = {
  bold: 'bold',
  italic: 'italic',
  underline: 'underline',
  strikethrough: 'strike',
  spoiler: 'spoiler',
  code: 'code',
  pre: 'code',
  text_link: 'link',
};

/**
 * Reads one Telegram message as the Telegram servers do.
 * @throws Error if the servers would refuse the message, truncate it, or ping people.
 */
export function readTelegram(html: string): TextStretch[] {
  const { text, entities } = parseTelegramHtml(html);
  if (entities.length > 100) throw new Error(`${entities.length} entities`);
  const links = new Map(entities.map(({ url = '' }, index) => [index, { url }]));
  const edges = new Set([0, text.length]);
  for (const { offset, length } of entities) edges.add(offset).add(offset + length);
  const places = [...edges].sort((a, b) => a - b);
  const stretches = places.slice(1).map((end, index): TextStretch => {
    const start = places[index] ?? 0;
    const formats = new Set<Format>();
    let link: { url: string } | undefined;
    for (const [at, { type, offset, length, language }] of entities.entries()) {
      if (offset >= end || offset + length <= start) continue;
      const format = FORMAT[type];
      if (format !== undefined) formats.add(format);
      else if (type !== 'blockquote') throw new Error(`unexpected ${type}`);
      if (language !== undefined) formats.add(`language-${language}`);
      if (type === 'text_link') link = links.get(at);
    }
    return { text: text.slice(start, end), formats, ...(link === undefined ? {} : { link }) };
  });
  refusePings(stretches);
  return stretches;
}

/** Telegram turns `@name` into a mention that notifies, except in code and links. */
function refusePings(stretches: readonly TextStretch[]): void {
  const text = stretches.map((stretch) => stretch.text).join('');
  let from = 0;
  const free = stretches.flatMap(({ text: { length }, formats }) => {
    from += length;
    const isSafe = formats?.has('code') || formats?.has('link');
    return isSafe ? [] : [[from - length, from] as const];
  });
  for (const { 0: ping, index } of text.matchAll(/(?<![\p{L}\p{N}_])@[A-Za-z]\w{2,}/gu)) {
    const isFree = free.some(([start, end]) => start <= index && index < end);
    if (isFree) throw new Error(`alive: ${ping}`);
  }
}
