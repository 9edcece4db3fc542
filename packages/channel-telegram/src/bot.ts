import { Context, Telegraf, Telegram } from 'telegraf';
import type { Update, UserFromGetMe } from 'telegraf/types';
import { type CallOptions, type MakeCall, QUICK_MS } from './calls.ts';
import type { BotIdentity, UpdateKind, WireUpdate } from './wire.ts';

/** A bot that dispatches updates to readers and makes API calls. */
export interface Bot {
  readonly telegram: BotTelegram;
  /**
   * Resolves once an update is stored or does not need to be; rejects when Telegram must deliver it
   * again (D01).
   */
  admit(update: WireUpdate, me: BotIdentity): Promise<void>;
}

/** An update being processed by the bot. Telegraf's context has these fields. */
interface IncomingUpdate {
  readonly update: { readonly update_id: number };
  readonly botInfo: BotIdentity;
}

/**
 * Reads an update; resolves once its content is stored or does not need to be, and rejects
 * otherwise (D01).
 */
export type UpdateReader = (content: unknown, arrival: IncomingUpdate) => Promise<void>;

/**
 * The readers that the bot passes updates to; `registerHandlers` maps each kind of update to a
 * reader.
 */
export interface Intake {
  /** Runs before every update. */
  prepare(): Promise<void>;
  readonly message: UpdateReader;
  readonly edit: UpdateReader;
  /** Messages in chats of a business account, where Telegram also reports deletions. */
  readonly businessMessage: UpdateReader;
  readonly businessEdit: UpdateReader;
  readonly businessDeletion: UpdateReader;
  readonly businessConnection: UpdateReader;
  /** A single question that a person asks the bot in a chat of which it is not a member. */
  readonly guestMessage: UpdateReader;
  readonly press: UpdateReader;
  /** A press of the stop button below a growing answer. */
  readonly stop: UpdateReader;
  readonly reaction: UpdateReader;
  readonly membership: UpdateReader;
  /** An update of a kind without a reader, which is logged, recorded and confirmed. */
  unknown(update: object): Promise<void>;
}

export interface BotDeps {
  readonly token: string;
  readonly call: MakeCall;
  /** Aborts calls that have no signal of their own. */
  readonly stopping: AbortSignal;
  readonly intake: Intake;
}

/**
 * Telegraf's methods, with every request replaced by one of Parley's calls. Parley's calls have a
 * deadline, reuse connections and encode forms without losing data (`calls.ts`). A call times out
 * after 15 s and is aborted when the adapter stops, unless its options say otherwise. Methods that
 * telegraf does not know are called by name through `callApi`.
 */
export function connectTelegram(token: string, call: MakeCall, stopping: AbortSignal) {
  const callApi = (method: string, payload: object, options: Partial<CallOptions> = {}) =>
    call(method, payload, { signal: stopping, limitMs: QUICK_MS, ...options });
  return Object.assign(new Telegram(token), { callApi });
}
export type BotTelegram = ReturnType<typeof connectTelegram>;

/**
 * The maximum time that one update may take, in ms. Everything a handler waits for has a shorter
 * deadline of its own.
 */
const HANDLER_MS = 60_000;

/**
 * The only module that uses telegraf. Telegraf's middleware dispatches every update, but its
 * `launch` and its webhook are not used: `launch` stops permanently on 400, 401, 404 and 409 and
 * confirms updates whose handler failed, and the webhook corrupts characters at chunk boundaries.
 */
export function createBot({ token, call, stopping, intake }: BotDeps): Bot {
  const telegram = connectTelegram(token, call, stopping);
  /** Telegraf would give each update its own client with its own connections. */
  class UpdateContext extends Context {
    constructor(update: Update, _client: Telegram, me: UserFromGetMe) {
      super(update, telegram, me);
    }
  }
  const bot = new Telegraf(token, { handlerTimeout: HANDLER_MS, contextType: UpdateContext });
  bot.telegram = telegram;
  // Telegraf's default handler sets the exit code of the process. Here the error propagates to the
  // caller that passed in the update.
  bot.catch((error) => {
    throw error;
  });
  registerHandlers(bot, intake);
  return {
    telegram,
    admit(update, me) {
      // The only two fields of the bot's identity that telegraf reads.
      bot.botInfo = me as UserFromGetMe;
      return bot.handleUpdate(update as unknown as Update);
    },
  };
}

/** Maps every kind of update that Parley requests (`UPDATE_KINDS`) to its reader. */
function registerHandlers(bot: Telegraf, intake: Intake): void {
  bot.use((_event, next) => intake.prepare().then(next));

  bot.on(hasField('message'), (event) => intake.message(event.update.message, event));
  bot.on(hasField('channel_post'), (event) => intake.message(event.update.channel_post, event));
  bot.on(hasField('edited_message'), (event) => intake.edit(event.update.edited_message, event));
  bot.on(hasField('edited_channel_post'), (event) =>
    intake.edit(event.update.edited_channel_post, event),
  );

  bot.on(hasField('business_message'), (event) =>
    intake.businessMessage(event.update.business_message, event),
  );
  bot.on(hasField('edited_business_message'), (event) =>
    intake.businessEdit(event.update.edited_business_message, event),
  );
  bot.on(hasField('deleted_business_messages'), (event) =>
    intake.businessDeletion(event.update.deleted_business_messages, event),
  );
  bot.on(hasField('business_connection'), (event) =>
    intake.businessConnection(event.update.business_connection, event),
  );
  bot.on(hasField('guest_message'), (event) =>
    intake.guestMessage(event.update.guest_message, event),
  );

  bot.on(hasField('callback_query'), (event) => intake.press(event.update.callback_query, event));
  bot.on(hasField('stopped_message_generation'), (event) =>
    intake.stop(event.update.stopped_message_generation, event),
  );
  bot.on(hasField('message_reaction'), (event) =>
    intake.reaction(event.update.message_reaction, event),
  );
  bot.on(hasField('my_chat_member'), (event) =>
    intake.membership(event.update.my_chat_member, event),
  );

  bot.use((event) => intake.unknown(event.update));
}

/**
 * Matches updates by the name of their field, even one missing from telegraf's types. A bare name
 * would also match messages with a field of that name, and would throw when the message is not an
 * object.
 */
function hasField<Name extends UpdateKind>(name: Name) {
  return (update: Update): update is Update & Record<Name, unknown> => name in update;
}
