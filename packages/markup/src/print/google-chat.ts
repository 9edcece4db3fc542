import type { Leaf, Run } from '../document.ts';
import { percentEncode, spellOutLinksUnless } from './addresses.ts';
import type { Printed } from './lines.ts';
import { type MarkerDialect, printMarkerBlocks } from './marker-blocks.ts';
import { WORD_JOINER } from './word-edges.ts';

const GOOGLE_CHAT: MarkerDialect = {
  escape: (text, place) =>
    text.replaceAll(place === 'text' ? TOKEN : PERSON, `<${ZERO_WIDTH_SPACE}`),
  link: (url, text) => `<${percentEncode(url, UNFIT_IN_TOKEN)}|${text ?? url}>`,
  guards: 'around',
  prepare: prepareLinks,
  bullet: '-',
  blockStart: /^(?:>|[*-][^\S\n])/,
  monospace,
  quotesMonospace: false,
};

const LIVE: MarkerDialect = {
  ...GOOGLE_CHAT,
  escape: (text, place) =>
    place === 'text' ? text.replaceAll(LINK, `<${ZERO_WIDTH_SPACE}`) : text,
};

/**
 * Prints Google Chat's own syntax (`MARKUP_SYNTAX_CHAT`). Rules observed here: one level of bullets,
 * no numbers, no code in quotes, code without a language, no escape characters.
 * @param mentions `live`: tokens such as `<users/all>` remain mentions.
 */
export function printGoogleChat(leaves: readonly Leaf[], mentions?: 'live'): Printed {
  return printMarkerBlocks(leaves, mentions === 'live' ? LIVE : GOOGLE_CHAT);
}

const ZERO_WIDTH_SPACE = '\u200b';
/** Text that would be a mention, in code too; the platform does not say. */
const PERSON = /<(?=users\/)/gi;
/** Text that would be a link. */
const LINK = /<(?=[a-z][a-z0-9+.-]{0,20}:|[^\s<>|][^<>|\n]{0,500}\|)/gi;
const TOKEN = new RegExp(`${PERSON.source}|${LINK.source}`, 'gi');

/** Characters that would end the token of a link. */
const UNFIT_IN_TOKEN = /[\s<>|\p{Cc}\p{Cf}]/gu;
/** Characters that cannot be in the text of a link. */
const UNFIT_IN_TEXT = /[<>|]/;

/** A bare URL becomes text, which Google Chat links by itself. */
function prepareLinks(runs: readonly Run[]): readonly Run[] {
  return spellOutLinksUnless(runs, (text, url) => text !== url && !UNFIT_IN_TEXT.test(text));
}

const FENCE = '```';

function monospace(text: string): string {
  if (text.trim() === '') return text;
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return `${FENCE}\n${content.replaceAll(PERSON, `<${ZERO_WIDTH_SPACE}`)}\n${FENCE}`;
}
