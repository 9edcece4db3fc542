import type { BotAccount } from './account.ts';
import { answerGuestQuery, deleteBusinessMessages, getBusinessConnection } from './elsewhere.ts';
import { createEphemeralEditor, deleteEphemeralMessage } from './ephemeral.ts';
import { createBadRequestRefusal, isRecord, type RequestParams } from './request.ts';
import {
  createMediaSender,
  deleteMessage,
  editMessageCaption,
  editMessageReplyMarkup,
  editMessageText,
  sendChatAction,
  sendMessage,
  sendMessageDraft,
  sendRichMessage,
} from './send.ts';

/** A method of the Bot API; `gone` is aborted when the client closes the connection. */
type BotMethod = (account: BotAccount, params: RequestParams, gone: AbortSignal) => unknown;

/** The supported methods by lower-case name; all other names return 404, as on the servers. */
export const METHODS: Readonly<Record<string, BotMethod>> = {
  getme: (account) => account.me,
  getuserprofilephotos: ({ picture }) => ({
    total_count: picture === null ? 0 : 1,
    photos: picture === null ? [] : [picture],
  }),
  getupdates: getUpdates,
  setwebhook: setWebhook,
  deletewebhook: deleteWebhook,
  getwebhookinfo: ({ updates, webhook }) => ({
    url: updates.webhook,
    has_custom_certificate: false,
    pending_update_count: updates.pending.length,
    ...webhook.lastError,
  }),
  sendmessage: sendMessage,
  sendrichmessage: sendRichMessage,
  getbusinessconnection: getBusinessConnection,
  deletebusinessmessages: deleteBusinessMessages,
  answerguestquery: answerGuestQuery,
  editmessagetext: editMessageText,
  editmessagecaption: editMessageCaption,
  editmessagereplymarkup: editMessageReplyMarkup,
  deletemessage: deleteMessage,
  editephemeralmessagetext: createEphemeralEditor('text'),
  editephemeralmessagecaption: createEphemeralEditor('caption'),
  editephemeralmessagereplymarkup: createEphemeralEditor('markup'),
  deleteephemeralmessage: deleteEphemeralMessage,
  sendmessagedraft: sendMessageDraft,
  sendchataction: sendChatAction,
  setmycommands: setMyCommands,
  getmycommands: ({ commands }, params) => commands.get(getScopeKey(params)) ?? [],
  deletemycommands: ({ commands }, params) => {
    commands.delete(getScopeKey(params));
    return true;
  },
  answercallbackquery: answerCallbackQuery,
  setmessagereaction: setMessageReaction,
  getcustomemojistickers: getCustomEmojiStickers,
  getfile: ({ files }, params) => files.locate(params.text('file_id')),
  sendphoto: createMediaSender('photo'),
  senddocument: createMediaSender('document'),
  sendanimation: createMediaSender('animation'),
  sendaudio: createMediaSender('audio'),
  sendvideo: createMediaSender('video'),
  sendvoice: createMediaSender('voice'),
  getchatmember: ({ chats }, params) => {
    const id = params.integer('user_id') ?? 0;
    const isAdministrator = chats.find(params.text('chat_id')).administrators.has(id);
    const user = { id, is_bot: false, first_name: `User ${id}` };
    return { user, status: isAdministrator ? 'administrator' : 'member' };
  },
  getchat: ({ chats }, params) => chats.find(params.text('chat_id')).info,
  logout: () => true,
  close: () => true,
};

function getUpdates(
  { updates }: BotAccount,
  params: RequestParams,
  gone: AbortSignal,
): Promise<unknown> {
  const limit = params.integer('limit') ?? 100;
  return updates.poll(
    {
      offset: params.integer('offset') ?? 0,
      limit: limit >= 1 && limit <= 100 ? limit : 100,
      timeout: params.integer('timeout') ?? 0,
      allowed: parseAllowedUpdates(params),
    },
    gone,
  );
}

function setWebhook({ updates, webhook }: BotAccount, params: RequestParams): true {
  const url = params.text('url') ?? '';
  if (url !== '' && !url.startsWith('https://')) {
    throw createBadRequestRefusal('bad webhook: An HTTPS URL must be provided for webhook');
  }
  const secret = params.text('secret_token') ?? '';
  if (!/^[\w-]{0,256}$/.test(secret)) {
    throw createBadRequestRefusal('secret token contains unallowed characters');
  }
  updates.setWebhook(url, params.flag('drop_pending_updates'), parseAllowedUpdates(params));
  webhook.call(url, secret);
  return true;
}

function parseAllowedUpdates(params: RequestParams): string[] | undefined {
  const kinds = params.json('allowed_updates');
  return Array.isArray(kinds) ? kinds.map(String) : undefined;
}

function deleteWebhook({ updates, webhook }: BotAccount, params: RequestParams): true {
  webhook.call('', '');
  updates.setWebhook('', params.flag('drop_pending_updates'));
  return true;
}

/**
 * Telegram documents only a limit of 100 commands but refuses longer lists with the same error:
 * 7,750 bytes of JSON were accepted, 7,876 were not (measured by users in 2026).
 */
const MAX_MENU_BYTES = 7_800;

function setMyCommands({ commands }: BotAccount, params: RequestParams): true {
  const list = params.json('commands');
  if (!Array.isArray(list))
    throw createBadRequestRefusal("can't parse commands: expected an Array");
  const bytes = Buffer.byteLength(JSON.stringify(list));
  if (list.length > 100 || bytes > MAX_MENU_BYTES)
    throw createBadRequestRefusal('BOT_COMMANDS_TOO_MUCH');
  for (const item of list) {
    const known = isRecord(item) ? item : {};
    const { command, description, is_ephemeral, ...others } = known;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw createBadRequestRefusal(
        `can't parse BotCommand: this double does not support field "${unknown}"`,
      );
    if (is_ephemeral !== undefined && typeof is_ephemeral !== 'boolean')
      throw createBadRequestRefusal(
        'can\'t parse BotCommand: Field "is_ephemeral" must be of type Boolean',
      );
    if (typeof command !== 'string' || !/^\/?[a-z0-9_]{1,32}$/.test(command)) {
      throw createBadRequestRefusal('BOT_COMMAND_INVALID');
    }
    if (typeof description !== 'string' || description.length < 1 || description.length > 256) {
      throw createBadRequestRefusal('BOT_COMMAND_DESCRIPTION_INVALID');
    }
  }
  commands.set(getScopeKey(params), list);
  return true;
}

function getScopeKey(params: RequestParams): string {
  const scope = params.inside('scope');
  return [
    scope.text('type') ?? 'default',
    scope.text('chat_id'),
    params.text('language_code'),
  ].join('/');
}

/** The period in which the servers accept the answer to a button press. */
const ANSWER_WITHIN_MS = 15_000;

/** Implements answerCallbackQuery, which accepts one answer per query within the deadline. */
function answerCallbackQuery(account: BotAccount, params: RequestParams): true {
  const query = account.queries.get(params.text('callback_query_id') ?? '');
  const late = query === undefined || account.clock() - query.pressedAt > ANSWER_WITHIN_MS;
  if (late || query.answered) {
    throw createBadRequestRefusal(
      'query is too old and response timeout expired or query ID is invalid',
    );
  }
  query.answered = true;
  return true;
}

/** The emoji that bots may react with. */
const ALLOWED = new Set(
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(
    ' ',
  ),
);

/**
 * Implements setMessageReaction with at most one allowed emoji; an empty list removes the reaction.
 */
function setMessageReaction(account: BotAccount, params: RequestParams): true {
  const chat = account.chats.findWritable(params.text('chat_id'));
  const id = params.integer('message_id') ?? 0;
  if (!chat.messages.has(id)) throw createBadRequestRefusal('message to react not found');
  const list = params.json('reaction') ?? [];
  if (!Array.isArray(list))
    throw createBadRequestRefusal("can't parse reaction: expected an Array");
  if (list.length > 1) throw createBadRequestRefusal('REACTIONS_TOO_MANY');
  const emoji = list.map((item: unknown) => {
    const { type, emoji: sign } = isRecord(item) ? item : {};
    if (type !== 'emoji' || typeof sign !== 'string' || !ALLOWED.has(sign)) {
      throw createBadRequestRefusal('REACTION_INVALID');
    }
    return sign;
  });
  account.transcript.react(chat.info.id, id, emoji[0]);
  return true;
}

/** Implements getCustomEmojiStickers for custom emoji used in reactions. */
function getCustomEmojiStickers(account: BotAccount, params: RequestParams): object[] {
  const ids = params.json('custom_emoji_ids');
  if (!Array.isArray(ids) || ids.length > 200)
    throw createBadRequestRefusal('custom_emoji_ids is invalid');
  return ids.flatMap((id: unknown) => {
    const emoji = account.customEmoji.get(String(id));
    return emoji === undefined ? [] : { type: 'custom_emoji', custom_emoji_id: id, emoji };
  });
}
