import type { Leaf, RunMark, TextRun } from '../document.ts';
import { isSameMark } from '../transform/runs.ts';
import { WORD_JOINER } from './invisible.ts';
import type { PrintedPart } from './lines.ts';
import { type MarkerDialect, printMarkerBlocks } from './marker-blocks.ts';

const WHATSAPP: MarkerDialect = {
  escape: (text) => text,
  guards: 'before',
  prepare: replaceSpoilersWithBars,
  bullet: '-',
  blockStart: /^(?:[>*-]|\d{1,2}\.)[^\S\n]/,
  monospace: toMonospace,
  quotesMonospace: true,
};

/**
 * Rules observed here: WhatsApp has marks only at word boundaries and within a line, one quote
 * level, one native list level, monospace without a language, and no escape character.
 */
export function printWhatsApp(leaves: readonly Leaf[]): PrintedPart {
  return printMarkerBlocks(leaves, WHATSAPP);
}

const FENCE = '```';

/** The fences contain no line breaks, because WhatsApp would show them as empty lines. */
function toMonospace(text: string): string {
  if (text.trim() === '') return text;
  const start = text.startsWith('`') ? WORD_JOINER : '';
  const end = text.endsWith('`') ? WORD_JOINER : '';
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return FENCE + start + content + end + FENCE;
}

const BARS = '||';

/**
 * Spoiler marks become text, because they are WhatsApp's own syntax; the bars get the marks that
 * both sides share.
 */
function replaceSpoilersWithBars(runs: readonly TextRun[]): readonly TextRun[] {
  if (!runs.some(isSpoilerRun)) return runs;
  const out: TextRun[] = [];
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (isSpoilerRun(run) !== isSpoilerRun(before)) {
      const marks = run.marks.filter((mark) =>
        before?.marks.some((other) => isSameMark(mark, other)),
      );
      out.push({ text: BARS, marks: marks.filter(isNonSpoilerMark) });
    }
    out.push({ ...run, marks: run.marks.filter(isNonSpoilerMark) });
  }
  return isSpoilerRun(runs.at(-1)) ? [...out, { text: BARS, marks: [] }] : out;
}

function isSpoilerRun(run: TextRun | undefined): boolean {
  return run !== undefined && !run.marks.every(isNonSpoilerMark);
}

function isNonSpoilerMark({ type }: RunMark): boolean {
  return type !== 'spoiler';
}
