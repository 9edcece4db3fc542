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
    const next = segments[index + 1];
    const goesOn =
      next !== undefined && commonMarks(segment.marks, next.marks).length === segment.marks.length;
    const following = goesOn ? next : undefined;
    const place = { isGlued: following !== undefined, isLast: next === undefined };
    if (segment.kind === 'text') putText(page, segment, place, line);
    else putSpan(page, segment, following);
  });
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
  { isGlued, isLast }: { readonly isGlued: boolean; readonly isLast: boolean },
  { prefix, inItem }: LineStart,
): void {
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const goesOn = index === lines.length - 1 && !isLast;
    const shown = goesOn ? line : line.trimEnd();
    if (index > 0) {
      // Nothing but spaces, or Discord takes the empty line for the end of the item or its text.
      newLine(page, shown === '' && !goesOn && inItem ? `${prefix} ` : prefix, inItem);
    }
    const glued = isGlued && index === lines.length - 1;
    putLiteral(page, page.joins ? shown.trimStart() : shown, { marks, glued });
  }
  countEmoji(page, text);
}

function putSpan(
  page: Page,
  segment: Exclude<Segment, { kind: 'text' }>,
  following: Segment | undefined,
): void {
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
  putRaw(page, tick + start + inner + end + tick);
}

/** Bare where Discord finds exactly this address; in angle brackets otherwise, which cost the preview. */
function putAddress(page: Page, url: string, following: Segment | undefined): void {
  const next =
    following === undefined || following.kind !== 'text' ? following && '*' : following.text;
  const [word = ''] = (next ?? '').split(/\s/, 1);
  const isBare = addressEnd(url + word.slice(0, 100), 0) === url.length;
  if (endsLink(page, url))
    putLiteral(page, url.replace('](', `]${ZERO_WIDTH_SPACE}(`), { marks: [], glued: false });
  else putRaw(page, isBare ? url : `<${url}>`);
}

const EMOJI = /\p{RGI_Emoji}/gv;
/** Every emoji has one of these in it; the search for whole emoji takes a hundred times longer. */
const PART_OF_EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

function countEmoji(page: Page, text: string): void {
  if (!PART_OF_EMOJI.test(text)) return;
  page.nodes += text.match(EMOJI)?.length ?? 0;
}
