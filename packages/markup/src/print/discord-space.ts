import type { DiscordMark } from './discord-mark.ts';
import { commonMarks, type Segment } from './discord-segment.ts';

/** White space at the edge of a text keeps only the marks that go on behind it. */
export function hoistSpace<Kind extends Segment>(segments: readonly Kind[]): Kind[] {
  const pieces = segments.flatMap(cutSpace);
  let before: readonly DiscordMark[] = [];
  return pieces.map((piece, index) => {
    if (!isSpace(piece)) {
      before = piece.marks;
      return piece;
    }
    const next = pieces.slice(index + 1, index + 3).find((other) => !isSpace(other));
    return { ...piece, marks: commonMarks(commonMarks(before, piece.marks), next?.marks ?? []) };
  });
}

function cutSpace<Kind extends Segment>(segment: Kind): Kind[] {
  if (segment.kind !== 'text') return [segment];
  const core = segment.text.trim();
  if (core === segment.text || core === '') return [segment];
  const from = segment.text.indexOf(core);
  const texts = [segment.text.slice(0, from), core, segment.text.slice(from + core.length)];
  return texts.filter((text) => text !== '').map((text) => ({ ...segment, text }));
}

function isSpace(segment: Segment): boolean {
  return segment.kind === 'text' && segment.text.trim() === '';
}
