import type { Leaf, TextRun } from '../document.ts';
import { percentEncode, spellOutLinksUnless } from './addresses.ts';
import { WORD_JOINER, ZERO_WIDTH_SPACE } from './invisible.ts';
import type { PrintedPart } from './lines.ts';
import { type MarkerDialect, printMarkerBlocks } from './marker-blocks.ts';

const GOOGLE_CHAT: MarkerDialect = {
  escape: (text, place, rest) => breakUpTokens(text, place === 'text' ? TOKEN : PERSON, rest),
  link: (url, text) => `<${percentEncode(url, UNFIT_IN_TOKEN)}|${text ?? url}>`,
  guards: 'around',
  prepare: prepareLinks,
  bullet: '-',
  blockStart: /^(?:>|[*-][^\S\n])/,
  monospace: formatMonospace,
  quotesMonospace: false,
};

const LIVE: MarkerDialect = {
  ...GOOGLE_CHAT,
  escape: (text, place, rest) => (place === 'text' ? breakUpTokens(text, LINK, rest) : text),
};

/**
 * Prints Google Chat's own syntax (`MARKUP_SYNTAX_CHAT`). Rules observed here: Google Chat has one
 * level of bullets, no numbered lists, no code in quotes, code without a language, and no escape
 * characters.
 * @param mentions `live`: tokens such as `<users/all>` remain mentions.
 */
export function printGoogleChat(leaves: readonly Leaf[], mentions?: 'live'): PrintedPart {
  return printMarkerBlocks(leaves, mentions === 'live' ? LIVE : GOOGLE_CHAT);
}

/**
 * Text that would be a mention, possibly in code too; the platform's documentation does not say.
 */
const PERSON = /<(?=users\/)/gi;
const LINK = /<(?=(?:[a-z][a-z0-9+.-]{0,20}:|[^\s<>|][^<>|\n]{0,250}\|)[^<>\n]{0,250}>)/gi;
const TOKEN = new RegExp(`${PERSON.source}|${LINK.source}`, 'gi');

/**
 * Inserts an invisible character into each token that begins in this text. The marker at the end of
 * the text has the same effect.
 */
function breakUpTokens(text: string, tokens: RegExp, rest: string): string {
  if (!text.includes('<')) return text;
  const line = text + rest;
  return line
    .replaceAll(tokens, (sign, at: number) =>
      at < text.length - 1 ? sign + ZERO_WIDTH_SPACE : sign,
    )
    .slice(0, line === text ? undefined : -rest.length);
}

/** Characters that would end the token of a link. */
const UNFIT_IN_TOKEN = /[\s<>|\p{Cc}\p{Cf}]/gu;
const UNFIT_IN_TEXT = /[<>|]/;

/** A bare URL becomes text, which Google Chat links automatically. */
function prepareLinks(runs: readonly TextRun[]): readonly TextRun[] {
  const fit = spellOutLinksUnless(runs, (text) => !UNFIT_IN_TEXT.test(text));
  return spellOutLinksUnless(fit, (text, url) => text !== url);
}

const FENCE = '```';

function formatMonospace(text: string): string {
  if (text.trim() === '') return text;
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return `${FENCE}\n${breakUpTokens(content, PERSON, '')}\n${FENCE}`;
}
