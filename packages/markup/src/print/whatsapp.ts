import type { Leaf, Mark, Run } from '../document.ts';
import { sameMark } from '../transform/runs.ts';
import { WORD_JOINER } from './invisible.ts';
import type { Printed } from './lines.ts';
import { type MarkerDialect, printMarkerBlocks } from './marker-blocks.ts';

const WHATSAPP: MarkerDialect = {
  escape: (text) => text,
  guards: 'before',
  prepare: withBars,
  bullet: '-',
  blockStart: /^(?:[>*-]|\d{1,2}\.)[^\S\n]/,
  monospace,
  quotesMonospace: true,
};

/**
 * Prints WhatsApp's text formatting. Rules observed here: marks only at word boundaries and within
 * a line, one quote level, one native list level, monospace without a language, no escape
 * character.
 */
export function printWhatsApp(leaves: readonly Leaf[]): Printed {
  return printMarkerBlocks(leaves, WHATSAPP);
}

const FENCE = '```';

/** No line breaks inside the fences, because WhatsApp would show them as empty lines. */
function monospace(text: string): string {
  if (text.trim() === '') return text;
  const start = text.startsWith('`') ? WORD_JOINER : '';
  const end = text.endsWith('`') ? WORD_JOINER : '';
  const content = text.includes(FENCE) ? text.replaceAll(/`(?=`)/g, `\`${WORD_JOINER}`) : text;
  return FENCE + start + content + end + FENCE;
}

const BARS = '||';

/**
 * Spoiler marks as text, because WhatsApp's own spoilers are written that way; the bars have the
 * marks that both sides share.
 */
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
