import type { AnswerPrinter } from '@parley/channels';
import type { MessagePage, MessageView } from '@parley/store';

/**
 * A message. Answers also have HTML from the page's Markdown renderer, or null if only the text is
 * known.
 */
type RenderedMessage = Omit<MessageView, 'sent'> & {
  readonly html: string | null;
  /** True for the reply to a command and for notices, whose text was not written by a model. */
  readonly isNotice: boolean;
};

/**
 * Returns messages with the HTML of the answers. The HTML of an answer is in its first part; the
 * HTML of its other parts is empty.
 */
export async function renderMessages(
  { messages, answers }: Pick<MessagePage, 'messages' | 'answers'>,
  { htmlOfPart }: AnswerPrinter,
): Promise<readonly RenderedMessage[]> {
  const printed: RenderedMessage[] = [];
  const shown = new Set<string>();
  for (const { sent, ...message } of messages) {
    const turnId = sent?.turnId ?? '';
    const html = sent === undefined ? null : await htmlOfPart(sent, answers.get(turnId));
    if (html) shown.add(turnId);
    // True if the first message part of the answer is on an earlier page.
    const isAlone = html === '' && !shown.has(turnId);
    const isNotice = sent?.turnId === null;
    printed.push({ ...message, html: isAlone ? null : html, isNotice });
  }
  return printed;
}
