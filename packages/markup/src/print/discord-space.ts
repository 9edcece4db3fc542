import type { DiscordMark } from './discord-mark.ts';
import { commonMarks, type Segment } from './discord-segment.ts';

/** White space at the edge of a text keeps only the marks that go on behind it. */
export function hoistSpace<Kind extends Segment>(segments: readonly Kind[]): Kind[] {
  const pieces = segments.flatMap(cutSpace);
  // From the end, what goes on behind; from the start, what came before.
  const behind: (readonly DiscordMark[])[] = [];
  let marks: readonly DiscordMark[] = [];
  for (const piece of pieces.toReversed()) {
    marks = isSpace(piece) ? commonMarks(piece.marks, marks) : piece.marks;
    behind.push(marks);
  }
  marks = [];
  return pieces.map((piece) => {
    const after = behind.pop() ?? [];
    marks = isSpace(piece) ? commonMarks(after, marks) : piece.marks;
    return isSpace(piece) ? { ...piece, marks } : piece;
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
