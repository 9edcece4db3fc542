import { htmlOfPart } from '@parley/channels';
import type { MessagePage, ShownMessage } from '@parley/store';

/** A message, and an answer also as HTML from the printer of the page; null: only its text is known. */
type PrintedMessage = Omit<ShownMessage, 'sent'> & {
  readonly html: string | null;
  /** No model wrote it: the answer of a command, or a notice. */
  readonly isNotice: boolean;
};

/** Messages with the HTML of the answers. The first part of an answer shows all of it; the others are empty. */
export async function printMessages({
  messages,
  answers,
}: Pick<MessagePage, 'messages' | 'answers'>): Promise<readonly PrintedMessage[]> {
  const printed: PrintedMessage[] = [];
  const shown = new Set<string>();
  for (const { sent, ...message } of messages) {
    const turnId = sent?.turnId ?? '';
    const html = sent === undefined ? null : await htmlOfPart(sent, answers.get(turnId));
    if (html) shown.add(turnId);
    // The first part is on an earlier page.
    const isAlone = html === '' && !shown.has(turnId);
    const isNotice = sent?.turnId === null;
    printed.push({ ...message, html: isAlone ? null : html, isNotice });
  }
  return printed;
}
