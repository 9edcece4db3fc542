import type { ChatAddress, MessageCapability } from '@parley/channels';
import { ChannelError, type RenderedPart } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { findSoleRecipient, parseEphemeralNumber } from './ephemeral.ts';
import { isFormatRefusal, isRichRefusal, toCallFailure, toRetryableError } from './failures.ts';
import { MAX_CAPTION, parseMessageNumber, toPlainPartText, toRichContent } from './format.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { type ChatLocation, isForeignChat, parseThreadId } from './places.ts';
import { MAX_TEXT } from './settings.ts';

interface MessageDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly moved: MovedChatRegistry;
}

/** The adapter's message capability, which can also change the buttons below a text. */
export interface TelegramMessageCapability extends Required<MessageCapability> {
  edit(
    address: ChatAddress,
    messageId: string,
    body: RenderedPart,
    keyboard?: object,
  ): Promise<void>;
}

/** Methods that have a separate variant for messages visible to only one person. */
const OF_EPHEMERAL: ReadonlySet<string> = new Set([
  'editMessageText',
  'editMessageCaption',
  'deleteMessage',
]);

const NOT_MODIFIED = /message is not modified/i;
const NO_TEXT = /there is no text in the message/i;

/** Edits, deletes and reacts to messages. Each operation is idempotent, so it is safe to retry. */
export function createMessageCapability(
  { api, moved }: MessageDeps,
  linkPreviews: boolean,
  stopping: AbortSignal,
): TelegramMessageCapability {
  const change = async (
    method: string,
    { chatId, threadId, response }: ChatAddress,
    messageId: string,
    more: object,
  ): Promise<void> => {
    const ephemeral_message_id = parseEphemeralNumber(messageId);
    const alone = findSoleRecipient({
      replyToMessageId: messageId,
      ...(response !== undefined && { response }),
      ...(threadId !== undefined && { threadId }),
    });
    if (ephemeral_message_id !== undefined && alone !== undefined && OF_EPHEMERAL.has(method)) {
      const which = { chat_id: chatId, receiver_user_id: alone.to, ephemeral_message_id };
      await api.call(
        method.replace('Message', 'EphemeralMessage'),
        { ...which, ...more },
        stopping,
      );
      return;
    }
    const message_id = parseMessageNumber(messageId);
    const isStrange = messageId.includes('@') && !isForeignChat(threadId);
    if (message_id === undefined || isStrange || !moved.isThere(chatId, messageId))
      throw createUnknownMessageError(chatId, messageId);
    const call = toChangeCall(parseThreadId(threadId), method, {
      chat_id: chatId,
      message_id,
      ...more,
    });
    if (call === undefined) throw createNotPossibleError(chatId);
    await api.call(call.method, call.payload, stopping);
  };
  const content = (body: RenderedPart, { rich, html, below }: EditForm): object =>
    rich && body.rich !== undefined ? toRichContent(body.rich) : ordinary(body, html, below);
  const ordinary = (body: RenderedPart, html: boolean, below: boolean): object => ({
    [below ? 'caption' : 'text']: html
      ? body.text
      : toPlainPartText(body, below ? MAX_CAPTION : MAX_TEXT),
    ...(html ? { parse_mode: 'HTML' } : {}),
    ...(linkPreviews || below ? {} : { link_preview_options: { is_disabled: true } }),
  });
  return {
    edit: (address, messageId, body, keyboard = {}) =>
      ignoreRefusal(NOT_MODIFIED, address, () =>
        retryEditForms(body.rich !== undefined, (form) => {
          const method = form.below ? 'editMessageCaption' : 'editMessageText';
          return change(method, address, messageId, { ...content(body, form), ...keyboard });
        }),
      ),
    delete: (address, messageId) =>
      ignoreRefusal(/message to delete not found/i, address, () =>
        change('deleteMessage', address, messageId, {}),
      ),
    react: (address, messageId, emoji) =>
      ignoreRefusal(/REACTION_NOT_MODIFIED/i, address, () => {
        const reaction = emoji === undefined ? [] : [{ type: 'emoji', emoji }];
        return change('setMessageReaction', address, messageId, { reaction });
      }),
  };
}

/** The call that changes a message in a given kind of chat; undefined if there is none. */
function toChangeCall(
  place: ChatLocation,
  method: string,
  payload: { readonly chat_id: string; readonly message_id: number },
): { readonly method: string; readonly payload: object } | undefined {
  if (place.kind === 'guest') return undefined;
  if (place.kind !== 'business') return { method, payload };
  const business_connection_id = place.connection;
  switch (method) {
    case 'setMessageReaction':
      return undefined;
    case 'deleteMessage': {
      const message_ids = [payload.message_id];
      return { method: 'deleteBusinessMessages', payload: { business_connection_id, message_ids } };
    }
    default:
      return { method, payload: { ...payload, business_connection_id } };
  }
}

/** The form of an edit: with markup or plain, as a message or as a caption. */
interface EditForm {
  /** Whether the edit is a rich message, if the text needs one. */
  readonly rich: boolean;
  readonly html: boolean;
  readonly below: boolean;
}

/**
 * Retries an edit as ordinary text when a rich message is refused, without markup when Telegram
 * cannot parse it, and as a caption when the message has a file.
 */
async function retryEditForms(
  rich: boolean,
  edit: (form: EditForm) => Promise<void>,
): Promise<void> {
  let form: EditForm = { rich, html: true, below: false };
  for (;;) {
    try {
      return await edit(form);
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (NOT_MODIFIED.test(failure.reason)) throw thrown;
      if (form.rich && isRichRefusal(failure)) form = { ...form, rich: false };
      else if (isFormatRefusal(failure) && form.html) form = { ...form, html: false };
      else if (NO_TEXT.test(failure.reason) && !form.below) form = { ...form, below: true };
      else throw thrown;
    }
  }
}

/** Ignores refusals matched by `done`, which mean that the message is already as requested. */
async function ignoreRefusal(
  done: RegExp,
  { chatId }: ChatAddress,
  task: () => Promise<void>,
): Promise<void> {
  try {
    await task();
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const failure = toCallFailure(thrown);
    if (failure.kind === 'refused' && done.test(failure.reason)) return;
    throw toRetryableError(failure, `Telegram chat ${chatId}`, thrown);
  }
}

function createUnknownMessageError(chatId: string, messageId: string): ChannelError {
  const message = `Telegram chat ${chatId} has no message "${messageId}": message ids are numbers.`;
  return new ChannelError({ kind: 'refused' }, message);
}

function createNotPossibleError(chatId: string): ChannelError {
  const message = `Telegram chat ${chatId}: Telegram does not allow bots to do that in a chat of another account.`;
  return new ChannelError({ kind: 'refused' }, message);
}
