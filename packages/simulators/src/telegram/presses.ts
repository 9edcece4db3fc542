import type { BotAccount } from './account.ts';
import { buttonsOf } from './keyboards.ts';
import type { KnownUser } from './people.ts';
import { userOf } from './people.ts';
import { badRequest } from './refusal.ts';
import type { RequestParams } from './request-params.ts';

/** Which button a person presses. */
export interface Press {
  readonly chat: number;
  readonly message: number;
  /** What is written on it. */
  readonly label: string;
  readonly from?: number | KnownUser | undefined;
  /** The message is too old to be told: the update has its place and number only. */
  readonly inaccessible?: boolean | undefined;
}

/** After so long the servers no longer wait for the answer. */
const ANSWER_WITHIN_MS = 15_000;

/** A person presses a button; gives back the id of the query. */
export function press(account: BotAccount, wish: Press): string {
  const chat = account.chats.get(wish.chat);
  const message = chat?.messages.get(wish.message);
  const button = message && buttonsOf(message).find(({ text }) => text === wish.label);
  if (chat === undefined || message === undefined || button === undefined) {
    throw new Error(
      `No button "${wish.label}" below message ${wish.message} of chat ${wish.chat}.`,
    );
  }
  const id = `${account.me.id}${account.queries.size + 1}`;
  account.queries.set(id, { pressedAt: account.clock(), answered: false });
  account.updates.push('callback_query', {
    id,
    from: userOf({ chat: wish.chat, from: wish.from }, chat),
    message: wish.inaccessible
      ? { chat: chat.info, message_id: message.message_id, date: 0 }
      : message,
    chat_instance: String(chat.info.id),
    data: button.callback_data,
  });
  return id;
}

/** answerCallbackQuery: once, and soon. */
export function answerCallbackQuery(account: BotAccount, params: RequestParams): true {
  const query = account.queries.get(params.text('callback_query_id') ?? '');
  const late = query === undefined || account.clock() - query.pressedAt > ANSWER_WITHIN_MS;
  if (late || query.answered) {
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  }
  query.answered = true;
  return true;
}
