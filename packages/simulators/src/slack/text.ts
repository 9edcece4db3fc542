import { findEmojiName, KNOWN_EMOJI } from './emoji.ts';
import { escapeMrkdwn } from './rich-text.ts';

/** References and code, whose content Slack does not change. */
const KEPT = /(<[^<>\n]+>|```[\s\S]+?```|`[^`\n]+`)/;
const ADDRESS = /\b(?:https?:\/\/|mailto:)[^\s<>"]*[^\s<>".,;:!?)\]}'*_~`]/g;

/** Normalizes text for storage: plain addresses become links, and emoji become their names. */
export function normalizeText(text: string): string {
  return text
    .split(KEPT)
    .map((part, index) => (index % 2 === 1 ? part : replaceEmoji(part.replaceAll(ADDRESS, '<$&>'))))
    .join('');
}

/** Escapes the reserved characters in typed text, except in mentions such as `<@U1>`. */
export function escapeTypedText(text: string): string {
  return text
    .split(/(<[@#!][^<>\s]+>)/)
    .map((part, index) => (index % 2 === 1 ? part : escapeMrkdwn(part)))
    .join('');
}

function replaceEmoji(text: string): string {
  const every = new RegExp(KNOWN_EMOJI, 'gu');
  return text.replaceAll(every, (emoji) => `:${findEmojiName(emoji) ?? emoji}:`);
}
