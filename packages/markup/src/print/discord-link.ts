import { showsAddress } from '../transform/links.ts';
import { isReadable, maskable } from './discord-address.ts';
import { cutForLink, type LinkAtom } from './discord-link-text.ts';
import type { DiscordMark } from './discord-mark.ts';
import { commonMarks, type Piece, type Segment } from './discord-segment.ts';
import { hoistSpace } from './discord-space.ts';

/** Discord makes no link of a text that contains an address, also not of its own invites. */
const ADDRESS = /(?:https?|steam):\/\/|discord(?:app)?\.(?:com|gg|gift|new|me|store)\//i;
const SEEN = /[\p{L}\p{N}]/u;

/**
 * A link as Discord shows it: the address itself, or a text with the address behind it, or, where
 * the text or the address does not allow that, both beside each other. If only a part of the text
 * is fit for a link, the longest such part is the link.
 */
export function linkSegments(url: string, pieces: readonly Piece[]): Segment[] {
  const text = pieces.map((piece) => piece.text).join('');
  const marks = pieces.map((piece) => piece.marks).reduce(commonMarks);
  if (text === url) return [{ kind: isReadable(url) ? 'address' : 'text', text, marks }];
  const target = maskable(url);
  if (!isReadable(target) || ADDRESS.test(text)) return writtenOut(url, pieces);
  const atoms = cutForLink(pieces, marks);
  const { from, to } = longestFit(atoms);
  if (from === to) return writtenOut(url, pieces);
  const all = atoms.map(({ piece }) => piece);
  const inner = innerPieces(all.slice(from, to), marks);
  const first = inner.findIndex(isSeen);
  const end = inner.findLastIndex(isSeen) + 1;
  return [
    ...all.slice(0, from),
    ...inner.slice(0, first),
    { kind: 'masked', url: target, inner: inner.slice(first, end), marks },
    ...inner.slice(end),
    ...all.slice(to),
  ];
}

function writtenOut(url: string, pieces: readonly Piece[]): Segment[] {
  if (showsAddress(pieces.map(({ text }) => text).join(''), url)) return [...pieces];
  const kind = isReadable(url) ? 'address' : 'text';
  return [
    ...pieces,
    { kind: 'text', text: ' (', marks: [] },
    { kind, text: url, marks: [] },
    { kind: 'text', text: ')', marks: [] },
  ];
}

function isSeen({ text }: Piece): boolean {
  return text.trim() !== '';
}

/** The longest stretch that is fit to be a link's text and shows a letter or digit. */
function longestFit(atoms: readonly LinkAtom[]): { from: number; to: number } {
  let best = { from: 0, to: 0, length: 0 };
  let from = 0;
  for (let to = 0; to <= atoms.length; to += 1) {
    if (atoms[to]?.isFit) continue;
    const text = atoms
      .slice(from, to)
      .map(({ piece }) => piece.text)
      .join('');
    if (text.length > best.length && SEEN.test(text)) best = { from, to, length: text.length };
    from = to + 1;
  }
  return best;
}

/** Content with the marks that are safe in a link's text, where nothing can keep signs apart. */
function innerPieces(pieces: readonly Piece[], outer: readonly DiscordMark[]): Piece[] {
  const own = hoistSpace(
    pieces.map((piece) => ({
      ...piece,
      text: piece.text.replaceAll(/\s/g, ' '),
      marks: piece.marks.slice(outer.length),
    })),
  );
  const hasSpoiler = own.some(({ marks }) => marks.includes('spoiler'));
  const signs = hasSpoiler ? /[*_~|]/ : /[*_~]/;
  const hasSigns = pieces.some(({ text }) => signs.test(text));
  const touches = own.some(({ marks }, index) => {
    const before = own[index - 1]?.marks ?? [];
    const common = commonMarks(before, marks).length;
    return common < before.length && common < marks.length;
  });
  return hasSigns || touches ? own.map((piece) => ({ ...piece, marks: [] })) : own;
}
