import { findEmojiName, KNOWN_EMOJI } from './emoji.ts';
import { escapeMrkdwn } from './rich-text.ts';

/** Everything whose content the servers leave alone: references and code. */
const KEPT = /(<[^<>\n]+>|```[\s\S]+?```|`[^`\n]+`)/;
const ADDRESS = /\b(?:https?:\/\/|mailto:)[^\s<>"]*[^\s<>".,;:!?)\]}'*_~`]/g;

/** Makes plain addresses links and replaces emoji with their names, as in every stored text. */
export function normalizeText(text: string): string {
  return text
    .split(KEPT)
    .map((part, index) => (index % 2 === 1 ? part : replaceEmoji(part.replaceAll(ADDRESS, '<$&>'))))
    .join('');
}

/** What a person typed, with reserved characters escaped; mentions such as `<@U1>` stay. */
export function escapeTyped(text: string): string {
  return text
    .split(/(<[@#!][^<>\s]+>)/)
    .map((part, index) => (index % 2 === 1 ? part : escapeMrkdwn(part)))
    .join('');
}

function replaceEmoji(text: string): string {
  const every = new RegExp(KNOWN_EMOJI, 'gu');
  return text.replaceAll(every, (emoji) => `:${findEmojiName(emoji) ?? emoji}:`);
}
