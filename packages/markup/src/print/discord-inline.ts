import type { Run } from '../document.ts';
import { addressEnd } from './discord-address.ts';
import { putLiteral } from './discord-literal.ts';
import { type DiscordMark, SIGN_OF } from './discord-mark.ts';
import {
  closeMark,
  endsLink,
  newLine,
  openMark,
  type Page,
  put,
  putLinkEnd,
  putRaw,
  touchesSign,
  ZERO_WIDTH_SPACE,
} from './discord-page.ts';
import { commonMarks, type Piece, type Segment } from './discord-segment.ts';
import { toSegments } from './discord-segments.ts';

/** What stands before the other lines of a text, and whether Discord reads them as a list item's. */
export interface LineStart {
  readonly prefix: string;
  readonly inItem: boolean;
}

/** Writes inline content. */
export function putRuns(page: Page, runs: readonly Run[], line: LineStart): void {
  const segments = toSegments(runs);
  putMarked(page, segments, (segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment.kind === 'text') {
      putText(page, segment, { glued: goesOn(segments, index), isLast }, line);
    } else putSpan(page, segment, segment.kind === 'address' ? wordAfter(segments, index) : '');
  });
}

/** Whether the next segment follows this one without the end of a mark between them. */
function goesOn(segments: readonly Segment[], index: number): boolean {
  const marks = segments[index]?.marks ?? [];
  const next = segments[index + 1];
  return next !== undefined && commonMarks(marks, next.marks).length === marks.length;
}

/** What stands behind a segment up to white space or the end of a mark; a star for all but text. */
function wordAfter(segments: readonly Segment[], index: number): string {
  let word = '';
  let at = index;
  while (goesOn(segments, at)) {
    at += 1;
    const next = segments[at];
    if (next?.kind !== 'text' || next.marks.length > (segments[index]?.marks.length ?? 0)) {
      return `${word}*`;
    }
    const space = next.text.search(/\s/);
    if (space >= 0) return word + next.text.slice(0, space);
    word += next.text;
  }
  return word;
}

/** Opens and closes marks between segments, innermost last and first. */
function putMarked<Kind extends Segment>(
  page: Page,
  segments: readonly Kind[],
  content: (segment: Kind, index: number) => void,
): void {
  let open: readonly DiscordMark[] = [];
  const closeTo = (depth: number) => {
    for (const mark of open.slice(depth).reverse()) closeMark(page, SIGN_OF[mark]);
  };
  for (const [index, segment] of segments.entries()) {
    const common = commonMarks(open, segment.marks).length;
    closeTo(common);
    for (const mark of segment.marks.slice(common)) openMark(page, SIGN_OF[mark]);
    open = segment.marks;
    content(segment, index);
  }
  closeTo(0);
}

function putText(
  page: Page,
  { text, marks }: Piece,
  { glued, isLast }: { readonly glued: boolean; readonly isLast: boolean },
  { prefix, inItem }: LineStart,
): void {
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const isEnd = index === lines.length - 1;
    const shown = isEnd && !isLast ? line : line.trimEnd();
    if (index > 0) newLine(page, prefix, inItem);
    putLiteral(page, page.joins ? shown.trimStart() : shown, {
      marks,
      glued: glued && isEnd,
    });
  }
  countEmoji(page, text);
}

function putSpan(page: Page, segment: Exclude<Segment, { kind: 'text' }>, following: string): void {
  page.nodes += 1;
  switch (segment.kind) {
    case 'code':
      putCode(page, segment.text);
      break;
    case 'address':
      putAddress(page, segment.text, following);
      break;
    case 'masked':
      put(page, '[');
      putMarked(page, segment.inner, (piece) => {
        if (piece.kind === 'code') putCode(page, piece.text);
        else putRaw(page, piece.text);
      });
      putLinkEnd(page, segment.url);
      break;
  }
}

/** Backticks of one length on both sides; Discord takes three for a block, so one or two. */
function putCode(page: Page, text: string): void {
  const runs = new Set((text.match(/`+/g) ?? []).map(({ length }) => length));
  const tick = runs.has(1) ? '``' : '`';
  const inner = runs.has(1) ? text.replaceAll(/(?<!`)``(?!`)/g, '`\u200b`') : text;
  const start = /^ *`/.test(inner) ? ' ' : '';
  const end = /` *$/.test(inner) ? ' ' : '';
  if (touchesSign(page, '`')) put(page, ZERO_WIDTH_SPACE);
  putRaw(page, tick + start + inner + end + tick);
}

/** Bare where Discord finds exactly this address; in angle brackets otherwise, which cost the preview. */
function putAddress(page: Page, url: string, following: string): void {
  // A backslash before one of these would become part of the address.
  const isBare = addressEnd(url + following, 0) === url.length && !/[:<]/.test(following);
  if (!endsLink(page, url)) putRaw(page, isBare ? url : `<${url}>`);
  else putLiteral(page, url.replace('](', `]${ZERO_WIDTH_SPACE}(`), { marks: [], glued: false });
}

/** Every emoji has one of these in it, joined ones several: Discord counts no more than these. */
const PART_OF_EMOJI = /\p{Emoji_Presentation}|\ufe0f/gu;

function countEmoji(page: Page, text: string): void {
  page.nodes += text.match(PART_OF_EMOJI)?.length ?? 0;
}
