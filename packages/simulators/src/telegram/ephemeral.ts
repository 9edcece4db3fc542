import type { BotAccount, ChatRecord } from './account.ts';
import { parseCaptionParams, parseKeyboard, parseTextParams } from './content.ts';
import { parseObjectParam } from './parameters.ts';
import { createBadRequestRefusal, type RequestParams } from './request.ts';
import { parseRichMessage } from './rich.ts';
import type { WireMessage } from './wire.ts';

/**
 * The period in which the servers accept an answer to an ephemeral message or to a button press.
 */
const ANSWER_WITHIN_MS = 15_000;

const FIELDS = ['receiver_user_id', 'callback_query_id', 'replace_callback_query_message'] as const;

/**
 * Returns the person whom an ephemeral message addresses; undefined when the message is visible to
 * everyone. A bot that is not an administrator may send one only in response to an ephemeral
 * message or to the person's button press, within 15 s.
 * @throws Refusal with status 400
 */
export function findEphemeralReceiver(
  account: BotAccount,
  chat: ChatRecord,
  params: RequestParams,
): number | undefined {
  const wish = parseObjectParam(params, 'ephemeral_message_parameters', FIELDS);
  const answered = params.inside('reply_parameters').integer('ephemeral_message_id');
  if (wish === undefined) {
    if (answered === undefined) return undefined;
    throw createBadRequestRefusal('a reply to an ephemeral message must be an ephemeral message');
  }
  const receiver = wish.integer('receiver_user_id');
  if (receiver === undefined) throw createBadRequestRefusal('USER_ID_INVALID');
  if (chat.info.type !== 'group' && chat.info.type !== 'supergroup')
    throw createBadRequestRefusal('BOT_NOT_ADMIN');
  const query = wish.text('callback_query_id');
  if (wish.flag('replace_callback_query_message') && query === undefined)
    throw createBadRequestRefusal('there is no callback query whose message could be replaced');
  if (answered !== undefined) checkAnsweredReceiver(account, chat, answered, receiver);
  else if (query !== undefined) checkPress(account, query, receiver);
  else if (!chat.administrators.has(account.me.id)) throw createBadRequestRefusal('BOT_NOT_ADMIN');
  return receiver;
}

function checkAnsweredReceiver(
  account: BotAccount,
  chat: ChatRecord,
  id: number,
  receiver: number,
): void {
  const message = chat.ephemeral.get(id);
  const isTheirs = message?.from?.id === receiver;
  const isLate = account.clock() - (message?.date ?? 0) * 1000 > ANSWER_WITHIN_MS;
  if (!isTheirs || isLate) throw createBadRequestRefusal('message to be replied not found');
}

function checkPress({ queries, clock }: BotAccount, id: string, receiver: number): void {
  const query = queries.get(id);
  const isLate = query === undefined || clock() - query.pressedAt > ANSWER_WITHIN_MS;
  if (isLate || query.from !== receiver) throw createBadRequestRefusal('QUERY_ID_INVALID');
}

/** Stores a message under a separate number, visible only to one person and the bot. */
export function storeEphemeralMessage(
  account: BotAccount,
  chat: ChatRecord,
  message: Partial<WireMessage> & Pick<WireMessage, 'chat' | 'date'>,
): WireMessage {
  chat.lastEphemeral += 1;
  const id = chat.lastEphemeral;
  const { chat: place, date, ...others } = message;
  const placed = { ...others, chat: place, date, message_id: 0, ephemeral_message_id: id };
  chat.ephemeral.set(id, placed);
  account.transcript.changes.changed();
  return placed;
}

/**
 * Implements editEphemeralMessageText and similar methods for the bot's own messages; the result is
 * true instead of the message.
 */
export function createEphemeralEditor(what: 'text' | 'caption' | 'markup') {
  return (account: BotAccount, params: RequestParams): true => {
    const { chat, id, old } = findEphemeralMessage(account, params);
    if (old.from?.id !== account.me.id) throw createBadRequestRefusal("message can't be edited");
    const content =
      what === 'markup'
        ? {}
        : what === 'caption'
          ? parseCaptionParams(params)
          : parseNewText(params);
    const { reply_markup: _markup, ...kept } = old;
    const changed = { ...kept, ...content, ...parseKeyboard(params) };
    if (JSON.stringify(changed) === JSON.stringify(old))
      throw createBadRequestRefusal('message is not modified');
    chat.ephemeral.set(id, changed);
    account.transcript.replace(changed);
    return true;
  };
}

function parseNewText(params: RequestParams): Partial<WireMessage> {
  const rich = parseRichMessage(params);
  if (rich !== undefined) return rich;
  const { text, entities } = parseTextParams(params);
  return entities.length === 0 ? { text } : { text, entities };
}

/** deleteEphemeralMessage. */
export function deleteEphemeralMessage(account: BotAccount, params: RequestParams): true {
  const { chat, id } = findEphemeralMessage(account, params);
  chat.ephemeral.delete(id);
  account.transcript.remove(chat.info.id, -id);
  return true;
}

function findEphemeralMessage(account: BotAccount, params: RequestParams) {
  const chat = account.chats.findWritable(params.text('chat_id'));
  const id = params.integer('ephemeral_message_id') ?? 0;
  const old = chat.ephemeral.get(id);
  const person = params.integer('receiver_user_id');
  const isTheirs = old?.receiver_user?.id === person || old?.from?.id === person;
  if (old === undefined || !isTheirs) throw createBadRequestRefusal('message to edit not found');
  return { chat, id, old };
}
