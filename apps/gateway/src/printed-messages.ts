import type { AnswerPrinter } from '@parley/channels';
import type { MessagePage, ShownMessage } from '@parley/store';

/**
 * A message. An answer also has its HTML from the page's printer, or null when only its text is
 * known.
 */
type PrintedMessage = Omit<ShownMessage, 'sent'> & {
  readonly html: string | null;
  /** The text is a command's answer or a notice: no model wrote it. */
  readonly isNotice: boolean;
};

/**
 * Messages with the HTML of the answers. The first part of an answer contains all of it; the others
 * are empty.
 */
export async function printMessages(
  { messages, answers }: Pick<MessagePage, 'messages' | 'answers'>,
  { htmlOfPart }: AnswerPrinter,
): Promise<readonly PrintedMessage[]> {
  const printed: PrintedMessage[] = [];
  const shown = new Set<string>();
  for (const { sent, ...message } of messages) {
    const turnId = sent?.turnId ?? '';
    const html = sent === undefined ? null : await htmlOfPart(sent, answers.get(turnId));
    if (html) shown.add(turnId);
    // Whether the first part is on an earlier page.
    const isAlone = html === '' && !shown.has(turnId);
    const isNotice = sent?.turnId === null;
    printed.push({ ...message, html: isAlone ? null : html, isNotice });
  }
  return printed;
}
