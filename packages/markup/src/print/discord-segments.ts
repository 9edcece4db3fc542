import type { Run } from '../document.ts';
import { linkOf } from '../transform/links.ts';
import { linkSegments } from './discord-link.ts';
import { conflicts, type DiscordMark } from './discord-mark.ts';
import { commonMarks, type Piece, type Segment } from './discord-segment.ts';
import { hoistSpace } from './discord-space.ts';

/**
 * Runs as segments that Discord reads as they are meant: white space stands outside of the marks
 * that begin or end there, and a mark goes round nothing that would end it too early.
 */
export function toSegments(runs: readonly Run[]): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  while (at < runs.length) {
    const link = linkOf(runs[at]);
    let end = at + 1;
    while (link !== undefined && linkOf(runs[end]) === link) end += 1;
    const inner = runs.slice(at, end).map(toPiece);
    segments.push(...(link === undefined ? inner : linkSegments(link.url, inner)));
    at = end;
  }
  return joinTexts(hoistSpace(segments.map(withoutConflicts)));
}

function toPiece({ text, marks }: Run): Piece {
  const own = marks
    .map(({ type }) => type)
    .filter((type): type is DiscordMark => type !== 'code' && type !== 'link');
  if (!marks.some(({ type }) => type === 'code')) return { kind: 'text', text, marks: own };
  return { kind: 'code', text: text.replaceAll('\n', ' '), marks: own };
}

function withoutConflicts(segment: Segment): Segment {
  if (segment.kind === 'text' || segment.kind === 'masked') return segment;
  const written = segment.kind === 'code' ? `\`${segment.text}\`` : segment.text;
  return { ...segment, marks: segment.marks.filter((mark) => !conflicts(written, mark)) };
}

function joinTexts(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    const isSame =
      segment.kind === 'text' &&
      last?.kind === 'text' &&
      last.marks.length === segment.marks.length &&
      commonMarks(last.marks, segment.marks).length === last.marks.length;
    if (isSame) joined[joined.length - 1] = { ...segment, text: last.text + segment.text };
    else joined.push(segment);
  }
  return joined;
}
