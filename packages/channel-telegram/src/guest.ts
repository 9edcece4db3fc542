import { ChannelError, type OutboundPart, type Receipt } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { isFormatRefusal, toCallFailure, toTelegramSendError } from './failures.ts';
import { toPlainPartText } from './format.ts';

const Sent = z.object({ inline_message_id: z.string().min(1).max(256) });

interface GuestDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly linkPreviews: boolean;
  readonly note: (facts: object, message: string) => void;
  readonly onStart?: (() => void) | undefined;
}

/**
 * Answers in a chat that the bot is not a member of. Telegram accepts a single message for each
 * query, without files. Buttons are refused because a press would not reveal where it came from.
 * Rejects only with a `ChannelError`.
 */
export async function answerGuest(
  { api, linkPreviews, note, onStart }: GuestDeps,
  part: OutboundPart,
  query: string,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId } = part.route;
  if (part.file !== undefined || (part.index ?? 0) > 0) {
    const what = part.file === undefined ? 'a second message' : 'a file';
    const message = `Telegram chat ${chatId}: a guest cannot send ${what}. Ask the bot in its own chat.`;
    throw new ChannelError({ kind: 'refused' }, message);
  }
  const previews = linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const answer = (content: object) => {
    const input_message_content = { ...content, ...previews };
    const result = { type: 'article', id: '1', title: 'Answer', input_message_content };
    onStart?.();
    return api.call('answerGuestQuery', { guest_query_id: query, result }, signal);
  };
  try {
    const html = { message_text: part.body.text, parse_mode: 'HTML' };
    const sent = await answer(html).catch((thrown: unknown) => {
      const failure = toCallFailure(thrown);
      if (!isFormatRefusal(failure)) throw thrown;
      note({ part: part.id, chatId, reason: failure.reason }, 'markup refused; sending plain text');
      return answer({ message_text: toPlainPartText(part.body) });
    });
    return { platformMessageId: Sent.parse(sent).inline_message_id };
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    throw toTelegramSendError(toCallFailure(thrown), chatId, thrown);
  }
}
