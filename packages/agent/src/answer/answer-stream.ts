import { isVisible, mayBecomeWhole, settledLength } from './silent-token.ts';
import {
  openFrameAt,
  openTagAt,
  type QuotableMessages,
  quotedBy,
  visibleText,
  withoutBeginning,
} from './visible-text.ts';

/**
 * Passes on what people see of a growing answer, and holds back whatever may still become a token, a tag
 * or a frame: it must not appear and vanish again (F12). Every piece says what is quoted.
 */
export function answerStream(
  quotable: QuotableMessages,
  pass: (piece: { readonly text: string; readonly replyTo?: string }) => void,
) {
  let whole = '';
  // What earlier pieces have shown is left behind, or a long answer would be read again with each word.
  let part = '';
  let [shownOfPart, shown] = [0, ''];
  let replyTo: string | undefined;
  const show = (text: string): void => {
    if (text === '') return;
    if (shown === '') replyTo = quotedBy(whole, quotable);
    shown += text;
    pass({ text, ...(replyTo !== undefined && { replyTo }) });
  };
  return {
    push(text: string): void {
      whole += text;
      part += text;
      const clean = withoutBeginning(part);
      const settled = settledIn(clean);
      if (settled <= shownOfPart) return;
      if (shown === '' && mayBecomeWhole(clean.slice(0, settled))) return;
      show(clean.slice(shownOfPart, settled));
      shownOfPart = settled;
      const last = [...clean.slice(0, settled)].at(-1) ?? '';
      const rest = last + clean.slice(settled);
      // The last shown word goes along, since it precedes the rest.
      if (isVisible(last) && part.endsWith(rest)) [part, shownOfPart] = [rest, last.length];
    },
    /** Passes on what was held back. */
    end(): void {
      const seen = visibleText(whole, quotable);
      if (seen.kind === 'says' && seen.text.startsWith(shown)) show(seen.text.slice(shown.length));
    },
  };
}

function settledIn(text: string): number {
  return settledLength(text.slice(0, Math.min(openFrameAt(text), openTagAt(text))));
}
