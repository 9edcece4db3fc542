import type { ChatAddress, MessageFacet } from '@parley/channels';
import { ChannelError, type RenderedPart } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import { messageNumber } from './place.ts';
import { MAX_CAPTION, plainText } from './plain-text.ts';
import { isFormatRefusal, repeatableErrorOf } from './send-failure.ts';
import type { TelegramApi } from './telegram-api.ts';

/** Changes that end in the same state however often they are made, so each may be repeated. */
export function createMessageFacet(
  api: Pick<TelegramApi, 'call'>,
  linkPreviews: boolean,
  stopping: AbortSignal,
): Required<MessageFacet> {
  const change = async (
    method: string,
    { chatId }: ChatAddress,
    messageId: string,
    more: object,
  ): Promise<void> => {
    const message_id = messageNumber(messageId);
    if (message_id === undefined) throw unknownMessage(chatId, messageId);
    await api.call(method, { chat_id: chatId, message_id, ...more }, stopping);
  };
  const text = (body: RenderedPart, html: boolean): object => ({
    text: html ? body.text : plainText(body),
    ...(html ? { parse_mode: 'HTML' } : {}),
    ...(linkPreviews ? {} : { link_preview_options: { is_disabled: true } }),
  });
  const caption = (body: RenderedPart, html: boolean): object => ({
    caption: html ? body.text : plainText(body, MAX_CAPTION),
    ...(html ? { parse_mode: 'HTML' } : {}),
  });
  return {
    edit: (address, messageId, body) =>
      tolerate(/message is not modified/i, address, async () => {
        const asText = (html: boolean) =>
          change('editMessageText', address, messageId, text(body, html));
        const asCaption = (html: boolean) =>
          change('editMessageCaption', address, messageId, caption(body, html));
        const edited = await orPlain(asText);
        // What stands below a file is no text.
        if (edited === 'no text') await orPlain(asCaption);
      }),
    delete: (address, messageId) =>
      tolerate(/message to delete not found/i, address, () =>
        change('deleteMessage', address, messageId, {}),
      ),
    react: (address, messageId, emoji) =>
      tolerate(/REACTION_NOT_MODIFIED/i, address, () => {
        const reaction = emoji === undefined ? [] : [{ type: 'emoji', emoji }];
        return change('setMessageReaction', address, messageId, { reaction });
      }),
  };
}

/** Once more without markup, where Telegram cannot read it. */
async function orPlain(edit: (html: boolean) => Promise<void>): Promise<'edited' | 'no text'> {
  try {
    await edit(true);
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (/there is no text in the message/i.test(failure.reason)) return 'no text';
    if (!isFormatRefusal(failure)) throw thrown;
    await edit(false);
  }
  return 'edited';
}

/** `done` names the refusal that means it is already as wished. */
async function tolerate(
  done: RegExp,
  { chatId }: ChatAddress,
  task: () => Promise<void>,
): Promise<void> {
  try {
    await task();
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const failure = callFailureOf(thrown);
    if (failure.kind === 'refused' && done.test(failure.reason)) return;
    throw repeatableErrorOf(failure, `Telegram chat ${chatId}`, thrown);
  }
}

function unknownMessage(chatId: string, messageId: string): ChannelError {
  const message = `Telegram chat ${chatId} has no message "${messageId}": its ids are numbers.`;
  return new ChannelError({ kind: 'refused' }, message);
}
