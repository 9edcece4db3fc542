import type { Mark, Run } from '../document.ts';
import { sameMark } from '../transform/join-runs.ts';
import { walkRuns } from './walk-runs.ts';
import { WORD_JOINER } from './whatsapp-characters.ts';
import { accidentalMarks } from './whatsapp-literals.ts';
import { MARKER, type Stretch, settleStretches } from './whatsapp-marks.ts';

const BARS = '||';

/** A line without markers, and the formats it is meant to have, outermost first. */
interface PlainLine {
  text: string;
  readonly stretches: Stretch[];
}

/**
 * Inline content line by line, with markers where they hold on every client: marks end with the
 * line and start again on the next, inside words they are left out, and what only looks like a mark
 * is kept from being one. A spoiler keeps its bars: that is how WhatsApp's own spoilers are written.
 */
export function whatsAppLines(runs: readonly Run[]): string[] {
  return plainLines(withBars(runs)).map(markLine);
}

/** Spoiler marks as text; the bars have the marks of both their sides. */
function withBars(runs: readonly Run[]): readonly Run[] {
  if (!runs.some(isSpoiler)) return runs;
  const out: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (isSpoiler(run) !== isSpoiler(before)) {
      const marks = run.marks.filter((mark) =>
        before?.marks.some((other) => sameMark(mark, other)),
      );
      out.push({ text: BARS, marks: marks.filter(isNoSpoiler) });
    }
    out.push({ ...run, marks: run.marks.filter(isNoSpoiler) });
  }
  return isSpoiler(runs.at(-1)) ? [...out, { text: BARS, marks: [] }] : out;
}

function isSpoiler(run: Run | undefined): boolean {
  return run !== undefined && !run.marks.every(isNoSpoiler);
}

function isNoSpoiler({ type }: Mark): boolean {
  return type !== 'spoiler';
}

function plainLines(runs: readonly Run[]): PlainLine[] {
  let line: PlainLine = { text: '', stretches: [] };
  const lines = [line];
  const open: { type: Mark['type']; from: number; index: number }[] = [];
  const begin = (type: Mark['type']) => {
    open.push({ type, from: line.text.length, index: line.stretches.length });
    // Takes the place of the mark until its end is known, so that outer marks come first.
    if (isMarker(type)) line.stretches.push({ type, from: 0, to: 0 });
  };
  const end = () => {
    const mark = open.pop();
    if (mark === undefined || !isMarker(mark.type)) return;
    line.stretches[mark.index] = { type: mark.type, from: mark.from, to: line.text.length };
  };
  walkRuns(runs, {
    open: ({ type }) => begin(type),
    close: end,
    text: (text) => {
      for (const [index, piece] of text.split('\n').entries()) {
        if (index > 0) {
          const types = open.map(({ type }) => type);
          for (const _ of types) end();
          line = { text: '', stretches: [] };
          lines.push(line);
          types.forEach(begin);
        }
        line.text += piece;
      }
    },
  });
  return lines;
}

function isMarker(type: Mark['type']): type is keyof typeof MARKER {
  return type in MARKER;
}

function markLine({ text, stretches }: PlainLine): string {
  if (stretches.length === 0 && !/[*_~`]/.test(text)) return text;
  const { marks, addresses } = settleStretches(text, stretches);
  const accidents = accidentalMarks(text, marks, addresses);
  // The sort is stable: where places are equal, inner marks close first and outer ones open first.
  const insertions = [
    ...marks.toReversed().map(({ type, to }) => ({ at: to, text: MARKER[type] })),
    ...marks.map(({ type, from }) => ({ at: from, text: MARKER[type] })),
    ...accidents.map((at) => ({ at, text: WORD_JOINER })),
  ].sort((a, b) => a.at - b.at);
  let out = '';
  let from = 0;
  for (const { at, text: inserted } of insertions) {
    out += text.slice(from, at) + inserted;
    from = at;
  }
  return out + text.slice(from);
}
