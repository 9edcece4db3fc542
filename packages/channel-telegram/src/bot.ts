import { Context, Telegraf, Telegram } from 'telegraf';
import type { Update, UserFromGetMe } from 'telegraf/types';
import { type CallOptions, type MakeCall, QUICK_MS } from './calls.ts';
import type { BotIdentity, UpdateKind, WireUpdate } from './wire.ts';

/** The bot: reads updates and makes calls. */
export interface Bot {
  readonly telegram: BotTelegram;
  /** Resolves once an update is stored or needs no storing; rejects when it must come again (D01). */
  admit(update: WireUpdate, me: BotIdentity): Promise<void>;
}

/** An update on its way through the bot: telegraf's context has these fields. */
interface Arrival {
  readonly update: { readonly update_id: number };
  readonly botInfo: BotIdentity;
}

/** Reads one kind of update. Resolves once its content is stored or needs no storing; else rejects (D01). */
export type UpdateReader = (content: unknown, arrival: Arrival) => Promise<void>;

/** The readers that the bot passes updates to; `registerHandlers` says which kind goes to which. */
export interface Intake {
  /** Runs before every update. */
  prepare(): Promise<void>;
  readonly message: UpdateReader;
  readonly edit: UpdateReader;
  /** The same in chats of a business account, where Telegram also reports deletions. */
  readonly businessMessage: UpdateReader;
  readonly businessEdit: UpdateReader;
  readonly businessDeletion: UpdateReader;
  readonly businessConnection: UpdateReader;
  /** A message of a chat that the bot is no member of, in which a person asks it once. */
  readonly guestMessage: UpdateReader;
  readonly press: UpdateReader;
  /** The stop button of a growing answer. */
  readonly stop: UpdateReader;
  readonly reaction: UpdateReader;
  readonly membership: UpdateReader;
  /** An update of a kind that has no reader is logged, noted and confirmed. */
  unknown(update: object): Promise<void>;
}

export interface BotDeps {
  readonly token: string;
  readonly call: MakeCall;
  /** Ends calls that have no signal of their own. */
  readonly stopping: AbortSignal;
  readonly intake: Intake;
}

/**
 * Telegraf's methods over our calls, by this one seam: with a deadline, connections that are kept, and forms that lose
 * nothing (`calls.ts`). A call ends after 15 s, or when the adapter stops, unless its options say otherwise. A method
 * that telegraf does not know goes through `callApi` by its name.
 */
export function connectTelegram(token: string, call: MakeCall, stopping: AbortSignal) {
  const callApi = (method: string, payload: object, options: Partial<CallOptions> = {}) =>
    call(method, payload, { signal: stopping, limitMs: QUICK_MS, ...options });
  return Object.assign(new Telegram(token), { callApi });
}
export type BotTelegram = ReturnType<typeof connectTelegram>;

/** The longest one update may take. All that a handler waits for has a shorter deadline of its own. In ms. */
const HANDLER_MS = 60_000;

/**
 * The one place that knows telegraf. It reads every update through its middleware; its `launch` and its webhook are
 * not used: `launch` ends for good on 400, 401, 404 and 409 and confirms updates whose handler failed, the webhook
 * breaks characters at the edge of a chunk.
 */
export function createBot({ token, call, stopping, intake }: BotDeps): Bot {
  const telegram = connectTelegram(token, call, stopping);
  /** Telegraf would give each update a client of its own, over its own connections. */
  class UpdateContext extends Context {
    constructor(update: Update, _client: Telegram, me: UserFromGetMe) {
      super(update, telegram, me);
    }
  }
  const bot = new Telegraf(token, { handlerTimeout: HANDLER_MS, contextType: UpdateContext });
  bot.telegram = telegram;
  // Telegraf's own handler sets the exit code of the process. The failure is reported where the update came in.
  bot.catch((error) => {
    throw error;
  });
  registerHandlers(bot, intake);
  return {
    telegram,
    admit(update, me) {
      // Of the bot itself only these two fields are used.
      bot.botInfo = me as UserFromGetMe;
      return bot.handleUpdate(update as unknown as Update);
    },
  };
}

/** Every kind of update that Parley asks for (`UPDATE_KINDS`), and what reads it. */
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
 * Matches updates by the name of their field, whether telegraf's types know it or not. A bare name would also match
 * messages with a field of that name, and would throw where the message is no object.
 */
function hasField<Name extends UpdateKind>(name: Name) {
  return (update: Update): update is Update & Record<Name, unknown> => name in update;
}
