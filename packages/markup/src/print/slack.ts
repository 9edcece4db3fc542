import type { Leaf } from '../document.ts';
import { percentEncode, spellOutLinksUnless } from './addresses.ts';
import { WORD_JOINER, ZERO_WIDTH_SPACE } from './invisible.ts';
import type { PrintedPart } from './lines.ts';
import { type MarkerDialect, printMarkerBlocks } from './marker-blocks.ts';
import type { TextPlace } from './marker-text.ts';

const SLACK: MarkerDialect = {
  escape: (text, place) => escapeEntities(place === 'code' ? text : escapeSlackText(text, place)),
  link: (url, text) => {
    const target = escapeEntities(percentEncode(url, UNFIT_IN_TOKEN));
    return text === undefined ? `<${target}>` : `<${target}|${text}>`;
  },
  guards: 'around',
  // A bar separates the URL from the text.
  prepare: (runs) => spellOutLinksUnless(runs, (text) => !text.includes('|')),
  bullet: '•',
  // Slack accepts the entity for a quote, too, and needs no space after it.
  blockStart: /^\s*(?:>|&gt;)/,
  monospace: formatMonospace,
  quotesMonospace: false,
};

const LIVE: MarkerDialect = { ...SLACK, escape: escapeAroundMentions };

/**
 * Prints Slack's mrkdwn, for the `text` field of a message. Rules observed here: three characters
 * are written as entities, in code too, so that no text is a token; Slack has no lists, no code in
 * quotes, no language for code, and no escape character for marks and emoji names.
 * @param mentions `live`: Slack's tokens for mentions, and names after `@`, remain mentions.
 */
export function printSlack(leaves: readonly Leaf[], mentions?: 'live'): PrintedPart {
  return printMarkerBlocks(leaves, mentions === 'live' ? LIVE : SLACK);
}

function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Characters that would end the token of a link, or that the client library would interpret. */
const UNFIT_IN_TOKEN = /[\s<>|`\p{Cc}\p{Cf}]/gu;

/** Names of emoji; which of them exist depends on the Slack workspace. */
const EMOJI = /:(?=(?:[\w'+-]{0,60}\p{L}[\p{L}\d_'+-]{0,60}|[+-]1|100|1234):)/gu;
/** The Chat SDK turns such names into mentions, except in text that it parses as code. */
const NAME = /(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])/g;

function escapeSlackText(text: string, place: TextPlace): string {
  const defused = text.replaceAll(NAME, `@${ZERO_WIDTH_SPACE}`);
  return place === 'text' ? defused.replaceAll(EMOJI, `:${ZERO_WIDTH_SPACE}`) : defused;
}

const MENTION =
  /(<(?:@[A-Z0-9]+|#[A-Z0-9]+|!here|!channel|!everyone|!subteam\^[A-Z0-9]+)(?:\|[^<>|\n]*)?>)/;

function escapeAroundMentions(text: string, place: TextPlace): string {
  if (place !== 'text') return escapeEntities(text);
  return text
    .split(MENTION)
    .map((piece, at) =>
      at % 2 === 1 ? piece : escapeEntities(piece.replaceAll(EMOJI, `:${ZERO_WIDTH_SPACE}`)),
    )
    .join('');
}

const FENCE = '```';

/** Slack hides the line breaks next to the fences. */
function formatMonospace(text: string): string {
  if (text.trim() === '') return text;
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return `${FENCE}\n${escapeEntities(content)}\n${FENCE}`;
}
