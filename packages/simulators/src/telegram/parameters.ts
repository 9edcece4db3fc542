import type { ApiMethods } from '@grammyjs/types';
import { createBadRequestRefusal, isRecord, type RequestParams } from './request.ts';

type MethodParameter<Method extends keyof ApiMethods<unknown>> =
  ApiMethods<unknown>[Method] extends (args: infer Args) => unknown ? keyof Args : never;

/** The parameters that all sending methods share. */
const PLACE = [
  'business_connection_id',
  'chat_id',
  'message_thread_id',
  'direct_messages_topic_id',
  'ephemeral_message_parameters',
  'disable_notification',
  'protect_content',
  'allow_paid_broadcast',
  'message_effect_id',
  'suggested_post_parameters',
  'reply_parameters',
  'reply_markup',
] as const satisfies readonly (MethodParameter<'sendMessage'> &
  MethodParameter<'sendRichMessage'>)[];

const TEXT = ['text', 'parse_mode', 'entities'] as const;
const EDITED = ['business_connection_id', 'chat_id', 'message_id', 'inline_message_id'] as const;
const ALONE = ['chat_id', 'receiver_user_id', 'ephemeral_message_id'] as const;
const DRAFT = ['chat_id', 'message_thread_id', 'draft_id', 'can_stop', 'keep_on_stop'] as const;

/** The parameters of the sending methods, by lower-case method name. */
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  sendmessage: createNameSet<'sendMessage'>(
    ...PLACE,
    ...TEXT,
    'link_preview_options',
    'reply_to_message_id',
  ),
  sendrichmessage: createNameSet<'sendRichMessage'>(...PLACE, 'rich_message'),
  sendmessagedraft: createNameSet<'sendMessageDraft'>(...DRAFT, ...TEXT),
  editmessagetext: createNameSet<'editMessageText'>(
    ...EDITED,
    ...TEXT,
    'link_preview_options',
    'rich_message',
    'reply_markup',
  ),
  editmessagereplymarkup: createNameSet<'editMessageReplyMarkup'>(...EDITED, 'reply_markup'),
  editephemeralmessagetext: createNameSet<'editEphemeralMessageText'>(
    ...ALONE,
    ...TEXT,
    'link_preview_options',
    'rich_message',
    'reply_markup',
  ),
  editephemeralmessagereplymarkup: createNameSet<'editEphemeralMessageReplyMarkup'>(
    ...ALONE,
    'reply_markup',
  ),
  deleteephemeralmessage: createNameSet<'deleteEphemeralMessage'>(...ALONE),
};

function createNameSet<Method extends keyof ApiMethods<unknown>>(
  ...known: readonly MethodParameter<Method>[]
): ReadonlySet<string> {
  return new Set(known.map(String));
}

/**
 * Refuses an unsupported parameter, such as `can_stop` of a message, because Telegram's servers
 * ignore it and the bot's mistake would go unnoticed.
 * @throws Refusal with status 400
 */
export function refuseUnknownParameters(method: string, params: RequestParams): void {
  const known = KNOWN[method];
  const unknown = known && Object.keys(params.values).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw createBadRequestRefusal(
      `this double does not support parameter "${unknown}" of ${method}`,
    );
}

/**
 * Returns an object parameter after checking that all its fields are known.
 * @throws Refusal with status 400
 */
export function parseObjectParam(
  params: RequestParams,
  name: string,
  fields: readonly string[],
): RequestParams | undefined {
  const value = params.json(name);
  if (value === undefined || value === null) return undefined;
  const what = name.replaceAll('_', ' ');
  if (!isRecord(value)) throw createBadRequestRefusal(`can't parse ${what}: expected an Object`);
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined)
    throw createBadRequestRefusal(
      `can't parse ${what}: this double does not support field "${unknown}"`,
    );
  return params.inside(name);
}
