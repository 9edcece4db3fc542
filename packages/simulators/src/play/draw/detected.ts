import { escapeText } from './escape.ts';

/**
 * Plain text that Telegram makes clickable: user names, hashtags with a letter, and commands that
 * are not next to a slash or angle bracket.
 */
const TELEGRAM =
  /(?<![\w@/])@[a-z]\w{3,31}|(?<![\w#])#\w*[\p{L}_]\w*|(?<![\w/<>])\/[a-z]\w{0,63}(?![\w/<>])/giu;
const ADDRESS =
  /(?:https?:\/\/|www\.)[^\s<>"]*[^\s<>".,;:!?)\]}'*_~`]|[\w.+-]+@[\w-]+\.[\w.-]*\w/gi;

/** Escapes text and renders URLs as links, as every messenger does. */
export function renderText(text: string, app: 'telegram' | 'other' = 'other'): string {
  const found = [...text.matchAll(ADDRESS)];
  if (app === 'telegram') {
    const free = (at: number) =>
      found.every((match) => at < match.index || at >= match.index + match[0].length);
    found.push(...[...text.matchAll(TELEGRAM)].filter(({ index }) => free(index)));
    found.sort((a, b) => a.index - b.index);
  }
  let html = '';
  let end = 0;
  for (const { index, 0: match } of found) {
    html += `${escapeText(text.slice(end, index))}<span class="link">${escapeText(match)}</span>`;
    end = index + match.length;
  }
  return html + escapeText(text.slice(end));
}
