import type { BotAccount, ChatRecord } from './account.ts';
import {
  type FormattedText,
  parseCaptionParams,
  parseKeyboard,
  parseTextParams,
} from './content.ts';
import { resolveTarget } from './elsewhere.ts';
import { findEphemeralReceiver, storeEphemeralMessage } from './ephemeral.ts';
import type { FileKind } from './files.ts';
import { parseObjectParam } from './parameters.ts';
import { createBadRequestRefusal, Refusal, type RequestParams } from './request.ts';
import { parseRichMessage } from './rich.ts';
import type { VisibleFile } from './transcript.ts';
import type { WireMessage } from './wire.ts';

/**
 * Implements sendMessage: the text is parsed before the chat is looked up, and flood control comes
 * last.
 */
export function sendMessage(account: BotAccount, params: RequestParams): WireMessage {
  return storeNewMessage(account, params, toTextFields(parseTextParams(params)));
}

/** Implements sendRichMessage; the HTML is also parsed before the chat is looked up. */
export function sendRichMessage(account: BotAccount, params: RequestParams): WireMessage {
  const rich = parseRichMessage(params);
  if (rich === undefined) throw createBadRequestRefusal('rich message is empty');
  return storeNewMessage(account, params, rich);
}

/**
 * Implements sendPhoto, sendDocument and similar methods, which take one file by multipart and a
 * caption.
 */
export function createMediaSender(kind: FileKind) {
  return async (account: BotAccount, params: RequestParams): Promise<WireMessage> => {
    const file = params.values[kind];
    if (!(file instanceof File)) {
      throw createBadRequestRefusal(`there is no ${kind} in the request`);
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    checkFile(kind, bytes, account.files.maxUpload);
    const caption = parseCaptionParams(params);
    const stored = account.files.store({ kind, bytes, name: file.name });
    return storeNewMessage(account, params, { ...caption, ...stored }, { name: file.name, bytes });
  };
}

/**
 * Implements editMessageText for the bot's own messages; refuses an edit without a change, and can
 * turn a text message into a rich message.
 */
export function editMessageText(account: BotAccount, params: RequestParams): WireMessage {
  const shown = parseRichMessage(params) ?? toTextFields(parseTextParams(params));
  const { chat, old } = findEditableMessage(account, params);
  if (old.text === undefined && old.rich_message === undefined)
    throw createBadRequestRefusal('there is no text in the message to edit');
  const changed = { ...shown, ...parseKeyboard(params) };
  const was = {
    ...(old.rich_message === undefined
      ? toTextFields({ text: old.text ?? '', entities: old.entities ?? [] })
      : { rich_message: old.rich_message }),
    ...getReplyMarkup(old),
  };
  if (JSON.stringify(changed) === JSON.stringify(was)) {
    throw createBadRequestRefusal(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  const {
    text: _text,
    entities: _entities,
    rich_message: _rich,
    reply_markup: _markup,
    ...kept
  } = old;
  return storeEdit(account, chat, kept, changed);
}

/**
 * Implements editMessageReplyMarkup for the bot's own messages; a call without a keyboard removes
 * the buttons.
 */
export function editMessageReplyMarkup(account: BotAccount, params: RequestParams): WireMessage {
  const { chat, old } = findEditableMessage(account, params);
  const markup = parseKeyboard(params);
  if (JSON.stringify(markup) === JSON.stringify(getReplyMarkup(old))) {
    throw createBadRequestRefusal('message is not modified');
  }
  const { reply_markup: _markup, ...kept } = old;
  return storeEdit(account, chat, kept, markup);
}

/** Implements editMessageCaption for the bot's own files. */
export function editMessageCaption(account: BotAccount, params: RequestParams): WireMessage {
  const caption = parseCaptionParams(params);
  const { chat, old } = findEditableMessage(account, params);
  if (old.text !== undefined)
    throw createBadRequestRefusal('there is no caption in the message to edit');
  if (old.caption === caption.caption) throw createBadRequestRefusal('message is not modified');
  const { caption: _caption, caption_entities: _entities, reply_markup: _markup, ...kept } = old;
  return storeEdit(account, chat, kept, caption);
}

/** Implements deleteMessage for the bot's own messages and, in groups, others' messages. */
export function deleteMessage(account: BotAccount, params: RequestParams): true {
  const chat = account.chats.findWritable(params.text('chat_id'));
  const id = params.integer('message_id') ?? 0;
  if (!chat.messages.delete(id)) throw createBadRequestRefusal('message to delete not found');
  account.transcript.remove(chat.info.id, id);
  return true;
}

/**
 * Implements sendMessageDraft, which requires a private chat and a nonzero id; the text may be
 * empty.
 */
export function sendMessageDraft(account: BotAccount, params: RequestParams): true {
  const text = params.text('text') ?? '';
  const shown = text === '' ? { text } : parseTextParams(params);
  const chat = account.chats.findWritable(params.text('chat_id'));
  if (chat.info.type !== 'private')
    throw createBadRequestRefusal('drafts can be sent to private chats only');
  const draftId = params.integer('draft_id') ?? 0;
  if (draftId === 0) throw createBadRequestRefusal('draft identifier must be non-zero');
  account.drafts.push({
    chatId: chat.info.id,
    draftId,
    text: shown.text,
    threadId: resolveThreadFields(chat, params).message_thread_id,
    canStop: params.flag('can_stop'),
    keepOnStop: params.flag('keep_on_stop'),
  });
  account.transcript.changes.changed();
  return true;
}

const ACTIONS = new Set(
  'typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note'.split(
    ' ',
  ),
);

/** Implements sendChatAction, which does not count toward flood control in the double. */
export function sendChatAction(account: BotAccount, params: RequestParams): true {
  const isBusiness = params.text('business_connection_id') !== undefined;
  const chat = isBusiness
    ? resolveTarget(account, params).chat
    : account.chats.findWritable(params.text('chat_id'));
  if (chat.info.type === 'channel' || chat.info.is_direct_messages === true)
    throw createBadRequestRefusal("chat actions can't be sent to channel chats");
  if (!ACTIONS.has(params.text('action') ?? ''))
    throw createBadRequestRefusal('wrong parameter action in request');
  // Only this method accepts the general topic by its number.
  const general = chat.info.is_forum === true && params.integer('message_thread_id') === 1;
  if (!general) resolveThreadFields(chat, params);
  return true;
}

/** Stores a new message from the bot with its topic and keyboard; `file` is the attached file. */
function storeNewMessage(
  account: BotAccount,
  params: RequestParams,
  content: Partial<WireMessage>,
  file?: VisibleFile,
): WireMessage {
  const keyboard = parseKeyboard(params);
  const { chats, chat, beside } = resolveTarget(account, params);
  assertCanWrite(account, chat, params, file !== undefined);
  const receiver = findEphemeralReceiver(account, chat, params);
  const place = { ...resolveThreadFields(chat, params), ...resolveReplyFields(chat, params) };
  account.flood.pass(chat.info.id);
  const written = {
    from: account.me,
    chat: chat.info,
    date: Math.floor(account.clock() / 1000),
    ...place,
    ...content,
    ...keyboard,
    ...beside,
  };
  if (receiver !== undefined) {
    const user = { id: receiver, is_bot: false, first_name: `User ${receiver}` };
    const ephemeral = storeEphemeralMessage(account, chat, { ...written, receiver_user: user });
    account.transcript.show(ephemeral, 'bot', file);
    return ephemeral;
  }
  const message: WireMessage = { message_id: chats.nextMessageId(chat), ...written };
  chat.messages.set(message.message_id, message);
  account.transcript.show(message, 'bot', file);
  return message;
}

/** Finds one of the bot's own messages in a chat where the bot may write. */
function findEditableMessage(account: BotAccount, params: RequestParams) {
  const isBusiness = params.text('business_connection_id') !== undefined;
  const chat = isBusiness
    ? resolveTarget(account, params).chat
    : account.chats.findWritable(params.text('chat_id'));
  const old = chat.messages.get(params.integer('message_id') ?? 0);
  if (old === undefined) throw createBadRequestRefusal('message to edit not found');
  const isOwn = isBusiness ? old.sender_business_bot !== undefined : old.from?.id === account.me.id;
  if (!isOwn) throw createBadRequestRefusal("message can't be edited");
  return { chat, old };
}

/** Edits one of the bot's messages: keeps the fields in `kept` and sets the fields in `changed`. */
function storeEdit(
  account: BotAccount,
  chat: ChatRecord,
  kept: WireMessage,
  changed: Partial<WireMessage>,
): WireMessage {
  account.flood.pass(chat.info.id);
  const message = { ...kept, edit_date: Math.floor(account.clock() / 1000), ...changed };
  chat.messages.set(message.message_id, message);
  account.transcript.replace(message);
  return message;
}

/** Groups may mute the bot, and only administrators may write in closed topics. */
function assertCanWrite(
  { me }: BotAccount,
  chat: ChatRecord,
  params: RequestParams,
  isFile: boolean,
): void {
  const what = isFile ? 'documents' : 'text messages';
  if (chat.closed === 'muted')
    throw createBadRequestRefusal(`not enough rights to send ${what} to the chat`);
  const isClosed = chat.closedTopics.has(params.integer('message_thread_id') ?? 0);
  if (isClosed && !chat.administrators.has(me.id)) throw createBadRequestRefusal('TOPIC_CLOSED');
}

const MAX_PHOTO = 10 * 1024 * 1024;
const PICTURES = [
  [0xff, 0xd8],
  [0x89, 0x50, 0x4e, 0x47],
  [0x52, 0x49, 0x46, 0x46],
];

function checkFile(kind: FileKind, bytes: Uint8Array, maxUpload: number): void {
  if (bytes.length === 0) throw createBadRequestRefusal('file must be non-empty');
  if (bytes.length > maxUpload) throw new Refusal(413, 'Request Entity Too Large');
  if (kind !== 'photo') return;
  if (bytes.length > MAX_PHOTO) throw createBadRequestRefusal('file is too big for a photo');
  const known = PICTURES.some((start) => start.every((byte, at) => bytes[at] === byte));
  if (!known) throw createBadRequestRefusal('IMAGE_PROCESS_FAILED');
}

function toTextFields(shown: FormattedText): {
  text: string;
  entities?: FormattedText['entities'];
} {
  const { text, entities } = shown;
  return entities.length === 0 ? { text } : { text, entities };
}

function getReplyMarkup(message: WireMessage): { reply_markup?: unknown } {
  return message.reply_markup === undefined ? {} : { reply_markup: message.reply_markup };
}

/** The general topic has no number, so 1 is refused like any unknown topic. */
function resolveThreadFields(chat: ChatRecord, params: RequestParams): Partial<WireMessage> {
  const thread = params.integer('message_thread_id');
  if (thread === undefined || thread === 0) return {};
  if (!chat.topics.has(thread)) throw createBadRequestRefusal('message thread not found');
  return { message_thread_id: thread, is_topic_message: true };
}

const REPLY_FIELDS = [
  'message_id',
  'chat_id',
  'ephemeral_message_id',
  'checklist_task_id',
  'poll_option_id',
  'allow_sending_without_reply',
  'quote',
  'quote_parse_mode',
  'quote_entities',
  'quote_position',
] as const;

function resolveReplyFields(chat: ChatRecord, params: RequestParams): Partial<WireMessage> {
  const wish = parseObjectParam(params, 'reply_parameters', REPLY_FIELDS) ?? params.inside('none');
  const id = wish.integer('message_id') ?? params.integer('reply_to_message_id');
  if (id === undefined) return {};
  const answered = chat.messages.get(id);
  if (answered === undefined) {
    if (wish.flag('allow_sending_without_reply') || params.flag('allow_sending_without_reply'))
      return {};
    throw createBadRequestRefusal('message to be replied not found');
  }
  const { reply_to_message: _nested, ...quoted } = answered;
  return { reply_to_message: quoted };
}
