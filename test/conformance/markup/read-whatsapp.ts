import { parseWhatsApp } from '@parley/simulators/whatsapp';
import { toStretches } from './read-lines.ts';
import type { TextStretch } from './seen.ts';
import { hasVisibleCharacter } from './visible.ts';

/**
 * Reads one WhatsApp message as phones show it.
 * @param plain the literal text of the message.
 * @throws Error if some phone would show the message differently.
 */
export function readWhatsApp(text: string, plain: string): TextStretch[] {
  const { lines, violations } = parseWhatsApp(text, plain);
  // Leftover Markdown shows up as unexpected characters.
  const violation = violations.find(({ kind }) => kind === 'ambiguous' || kind === 'fence');
  if (violation !== undefined) throw new Error(`${violation.kind}: ${violation.text}`);
  return markBars(toStretches(lines));
}

/** The bars of a split spoiler appear at the end of one part and at the start of the next. */
function markBars(stretches: readonly TextStretch[]): TextStretch[] {
  const seen = stretches.filter(({ text }) => hasVisibleCharacter(text));
  return stretches.flatMap((stretch) => {
    const bars = { text: '||', formats: stretch.formats, repeatable: true as const };
    let { text } = stretch;
    const starts = stretch === seen[0] && text.trimStart().startsWith('||');
    if (starts) text = text.trimStart().slice(2);
    const ends = stretch === seen.at(-1) && text.trimEnd().endsWith('||');
    if (ends) text = text.trimEnd().slice(0, -2);
    return [...(starts ? [bars] : []), { ...stretch, text }, ...(ends ? [bars] : [])];
  });
}
