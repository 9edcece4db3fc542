import type { BeforePart, ChatAddress, MessageFacet } from '@parley/channels';
import { ChannelError, type OutboundPart, type RenderedPart } from '@parley/core';
import type { TelegramApi } from './connection.ts';
import { callFailureOf, isFormatRefusal, repeatableErrorOf } from './failures.ts';
import { keyboardOf, MAX_CAPTION, MAX_TEXT, messageNumber, plainText } from './format.ts';

const NO_TEXT = /there is no text in the message/i;

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
  const content = (body: RenderedPart, { html, below }: EditForm): object => ({
    [below ? 'caption' : 'text']: html
      ? body.text
      : plainText(body, below ? MAX_CAPTION : MAX_TEXT),
    ...(html ? { parse_mode: 'HTML' } : {}),
    ...(linkPreviews || below ? {} : { link_preview_options: { is_disabled: true } }),
  });
  return {
    edit: (address, messageId, body) =>
      tolerate(/message is not modified/i, address, () =>
        tryForms((form) => {
          const method = form.below ? 'editMessageCaption' : 'editMessageText';
          return change(method, address, messageId, content(body, form));
        }),
      ),
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

/** How a text is edited: with markup or plainly, as a message or below a file. */
interface EditForm {
  readonly html: boolean;
  readonly below: boolean;
}

/** Once more without markup where Telegram cannot read it, and below the file where there is one. */
async function tryForms(edit: (form: EditForm) => Promise<void>): Promise<void> {
  let form: EditForm = { html: true, below: false };
  for (;;) {
    try {
      return await edit(form);
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (isFormatRefusal(failure) && form.html) form = { ...form, html: false };
      else if (NO_TEXT.test(failure.reason) && !form.below) form = { ...form, below: true };
      else throw thrown;
    }
  }
}

/** `done` names the refusal that means it is already as requested. */
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

/** So many messages of other chats, and such that waited unread, may have been numbered in between. */
const MOST_LOOKS = 120;
/** Supergroups and channels number their own messages; all other chats of a bot share one row of numbers. */
const OWN_NUMBERS = /^-100\d{10}/;

/**
 * Finds a part that may have been sent. Telegram shows a bot no messages, but refuses to give a message the
 * buttons that it has, and says with it whether there is one of the bot's own at this number. The numbers that
 * follow the last one known before are asked for, in order.
 */
export async function findSent(
  api: Pick<TelegramApi, 'call'>,
  part: OutboundPart,
  before: BeforePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { chatId } = part.route;
  const first = firstNumber(chatId, before);
  // A file and a text that does not fit below it are two messages.
  if (first === undefined || part.file !== undefined) return undefined;
  const keyboard = keyboardOf(part.buttons);
  for (let number = first; number < first + MOST_LOOKS; number += 1) {
    const place = { chat_id: chatId, message_id: number };
    try {
      await api.call('editMessageReplyMarkup', { ...place, ...keyboard }, signal);
      return undefined;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused' || failure.code !== 400) return undefined;
      if (/message is not modified/i.test(failure.reason)) return String(number);
      if (!/message to edit not found|message can't be edited/i.test(failure.reason))
        return undefined;
    }
  }
  return undefined;
}

/**
 * The smallest number that a part of this chat can have; undefined where nothing is known, or where what is
 * found might be another part that is uncertain.
 */
export function firstNumber(
  chatId: string,
  { known, uncertainAt }: BeforePart,
): number | undefined {
  const hasOwn = OWN_NUMBERS.test(chatId);
  const row = known.filter((each) =>
    hasOwn ? each.chatId === chatId : !OWN_NUMBERS.test(each.chatId),
  );
  // What was sent since has a higher number than that part; what came in may have been waiting for long.
  const isDoubtful = ({ direction, at }: (typeof row)[number]) =>
    direction === 'in' || at <= (uncertainAt ?? 0);
  if (uncertainAt !== null && row.every(isDoubtful)) return undefined;
  const numbers = row.flatMap(({ messageId }) => messageNumber(messageId) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers) + 1;
}
