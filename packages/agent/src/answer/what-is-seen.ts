import { withoutFrames, withoutOpenFrames } from './injected-frame.ts';
import { type AskedQuote, withoutTags } from './reply-tag.ts';
import {
  holdsToken,
  isVisible,
  wholeToken,
  withoutFirstToken,
  withoutLastToken,
  withoutTokenParagraphs,
} from './silent-token.ts';
import { withoutMark } from './system-mark.ts';

/** The messages that an answer may quote: all of the chat it goes to. */
export interface QuotableMessages {
  /** The one being answered; absent where it is of another chat, or nobody wrote it. */
  readonly current?: string;
  readonly known: ReadonlySet<string>;
}

/** What becomes of the model's last words. */
export type Seen =
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'says'; readonly text: string; readonly replyTo?: string };

/**
 * What people see of an answer (G08–G10): nothing where it is the silent token; else its words, without
 * tokens at their edges, reply tags, repeated frames and the system's mark. A token in the middle of a
 * sentence is somebody's subject, and all other words stay as they are, character for character.
 */
export function whatIsSeen(answer: string, quotable: QuotableMessages): Seen {
  let text = answer;
  for (let before = ''; text !== before; ) {
    before = text;
    const begun = withoutOpenFrames(withoutBeginning(text));
    const token = wholeToken(text) ?? wholeToken(begun);
    if (token !== null) return { kind: 'silent', reason: `it answered ${token}` };
    const next = withoutLastToken(begun) ?? begun;
    if (next !== text) text = next.trimEnd();
  }
  if (!isVisible(text) && holdsToken(answer)) {
    return { kind: 'silent', reason: 'it answered nothing but silent tokens' };
  }
  const replyTo = quotedBy(answer, quotable);
  return { kind: 'says', text, ...(replyTo !== undefined && { replyTo }) };
}

/**
 * Text without everything that can be told from its beginning on: whatever follows, this much of it
 * is out. What may still become something is left in.
 */
export function withoutBeginning(text: string): string {
  for (let before = text; ; ) {
    const { text: untagged } = withoutTags(withoutFrames(before));
    const begun = withoutMark(withoutTokenParagraphs(untagged));
    const next = withoutFirstToken(begun) ?? begun;
    if (next === before) return next;
    // What now leads stood behind something; what led before is the answer's own.
    before = /^\s/.test(before) ? next : next.trimStart();
  }
}

/** The message that an answer asks to be shown with: the first of its tags whose message is of this chat. */
export function quotedBy(answer: string, { current, known }: QuotableMessages): string | undefined {
  const idOf = (asked: AskedQuote) => (asked.kind === 'current' ? current : asked.id);
  const { asked } = withoutTags(withoutFrames(answer));
  return asked.map(idOf).find((id) => id !== undefined && (id === current || known.has(id)));
}
