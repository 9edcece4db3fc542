import type { DiscordMark } from './discord-mark.ts';
import type { Piece } from './discord-segment.ts';

/** A piece of a link's content, and whether it can stand in the text of a link. */
export interface LinkAtom {
  readonly piece: Piece;
  readonly isFit: boolean;
}

/**
 * What cannot stand in the text of a link: there Discord knows no backslashes, takes out zero-width
 * characters, and makes no link at all of a text with emoji, names of emoji or mentions in it.
 */
const UNFIT =
  /[\[\]`\\*_]|<(?=[@#:\/]|[^\s>]*[:@])|~~+|\|\|+|:[\w+\-]+:|@(?=everyone|here)|\p{RGI_Emoji}|[\p{Emoji_Presentation}\u200d\ufe0e\ufe0f]/gv;
/** Taken out of the text of a link by Discord; joined emoji are unfit as a whole. */
const HIDDEN = /(?!\u200d)\p{Cf}|[\u034f\u17b4\u17b5\u1160\u3164\uffa0]/gu;
/** Discord looks for links, mentions and names of emoji even in the code in a link. */
const PLAIN_CODE = /^[^`*~|<>@#[\]\\:]+$/;

/** Cuts the content of a link into what is fit to be its text and what is not. */
export function cutForLink(all: readonly Piece[], outer: readonly DiscordMark[]): LinkAtom[] {
  const pieces = all.map((piece) => ({ ...piece, text: piece.text.replaceAll(HIDDEN, '') }));
  const text = pieces.map((piece) => piece.text).join('');
  const marks = new Set([...outer, ...pieces.flatMap((piece) => piece.marks)]);
  const hasStars = marks.has('bold') || marks.has('italic');
  const starsAreFit = !hasStars && text.indexOf('*') === text.lastIndexOf('*');
  // An underscore in a word neither ends italic text nor lets any begin before it.
  const lineIsFit = !/_(?![0-9A-Za-z])/.test(text) || text.indexOf('_') === text.lastIndexOf('_');
  const isFit = (sign: string) => (sign === '*' && starsAreFit) || (sign === '_' && lineIsFit);
  return pieces.flatMap((piece) => {
    if (piece.kind === 'text') return cutText(piece, isFit);
    return [{ piece, isFit: PLAIN_CODE.test(piece.text) && lineIsFit }];
  });
}

function cutText(piece: Piece, isFit: (sign: string) => boolean): LinkAtom[] {
  const atoms: LinkAtom[] = [];
  const add = (text: string, fit: boolean) => {
    if (text !== '') atoms.push({ piece: { ...piece, text }, isFit: fit });
  };
  let from = 0;
  for (const { index, 0: sign } of piece.text.matchAll(UNFIT)) {
    if (isFit(sign)) continue;
    add(piece.text.slice(from, index), true);
    add(sign, false);
    from = index + sign.length;
  }
  add(piece.text.slice(from), true);
  return atoms;
}
