import type { ChannelContext, IngressOutcome, SenderFacts } from '@parley/channels';
import {
  BoundedMap,
  type InboundMessage,
  inlineCode,
  literal,
  type Monotonic,
  reasonOf,
} from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { chatOf, personOf, toInbound } from './content.ts';
import { aloneResponse, messageIdOf } from './ephemeral.ts';
import { callFailureOf } from './failures.ts';
import { pressId } from './format.ts';
import { type MovedChats, moveText } from './moved-chats.ts';
import { createReactionReader } from './reactions.ts';
import { stopToInbound } from './stop-button.ts';
import {
  type BotIdentity,
  WireMembership,
  WireMessage,
  WirePress,
  WireReaction,
  WireStop,
  type WireUpdate,
} from './wire.ts';

export interface AdmitDeps
  extends Pick<
    ChannelContext<unknown>,
    | 'account'
    | 'commands'
    | 'receive'
    | 'revise'
    | 'reacted'
    | 'tellOwner'
    | 'log'
    | 'clock'
    | 'monotonic'
  > {
  readonly moved: MovedChats;
  readonly api: Pick<TelegramApi, 'call'>;
  /** Ends what is still said to Telegram about an update. */
  readonly stopping: AbortSignal;
  /** Called with every message, edited or not. */
  readonly seen: (message: WireMessage) => void;
  /** Called when a person has pressed the stop button of this draft. */
  readonly stopped: (draftId: number) => void;
}

/** Resolves once an update is durable or of no use; rejects when it must come again (D01). */
export type AdmitUpdate = (update: WireUpdate, me: BotIdentity) => Promise<void>;

/** Distinguishes the kinds of updates. An unknown one is logged and confirmed. */
export function createAdmitUpdate(deps: AdmitDeps): AdmitUpdate {
  const { account, revise, seen, stopped, moved } = deps;
  const factsOf = createAdministrators(deps.api, deps.monotonic);
  const readReaction = createReactionReader(deps);
  /** Groups in which somebody was answered. */
  const served = new BoundedMap<string, true>(MOST_KNOWN);
  const receive = async (message: InboundMessage) => {
    const named = moved.named(message);
    const outcome = await deps.receive(named, factsOf(named));
    const { id, type } = named.chat;
    if (outcome.kind === 'accepted' && type !== 'direct') served.set(id, true);
    return outcome;
  };
  const read = <T>(schema: z.ZodType<T>, content: unknown, update: WireUpdate): T | undefined => {
    const parsed = schema.safeParse(content);
    if (parsed.success) return parsed.data;
    const facts = { update: update.update_id, reason: parsed.error.message };
    deps.log.warn(facts, 'update not understood');
    return undefined;
  };
  return async (update, me) => {
    await moved.load();
    const written = update.message ?? update.channel_post;
    const edited = update.edited_message ?? update.edited_channel_post;
    const content = written ?? edited;
    if (content !== undefined) {
      const message = read(WireMessage, content, update);
      if (message === undefined) return;
      seen(message);
      await admitMove(deps, message);
      const inbound = toInbound(message, account, me, deps.commands);
      if (written === undefined) await revise({ kind: 'edited', message: moved.named(inbound) });
      else await receive(inbound);
    } else if (update.callback_query !== undefined) {
      const press = read(WirePress, update.callback_query, update);
      if (press !== undefined) await admitPress({ ...deps, receive }, press);
    } else if (update.stopped_message_generation !== undefined) {
      const stop = read(WireStop, update.stopped_message_generation, update);
      if (stop === undefined) return;
      stopped(stop.draft_id);
      await receive(stopToInbound(stop, account, deps.clock()));
    } else if (update.message_reaction !== undefined) {
      const reaction = read(WireReaction, update.message_reaction, update);
      const inbound = reaction && (await readReaction(reaction));
      if (inbound !== undefined) await deps.reacted(moved.named(inbound));
    } else if (update.my_chat_member !== undefined) {
      const membership = read(WireMembership, update.my_chat_member, update);
      if (membership !== undefined) await admitMembership(deps, served, membership);
    }
  };
}

/** Both chats get a message about it, the old one first; the owner reads it once. */
async function admitMove(
  { moved, tellOwner, log }: AdmitDeps,
  { chat, migrate_to_chat_id, migrate_from_chat_id }: WireMessage,
): Promise<void> {
  const from = String(migrate_from_chat_id ?? chat.id);
  const to = String(migrate_to_chat_id ?? chat.id);
  if (from === to) return;
  // A part that was refused may have been the first to report it.
  if (await moved.note(from, to)) {
    log.info({ chat: from, now: to }, 'a group became a supergroup; it keeps its first id here');
  }
  await tellOwner(`moved ${from}`, moveText(chat.title, from, to));
}

/**
 * Parts that wait for such a chat fail when they are sent, which the agent sees; this is for operators. The owner
 * reads of groups in which the bot has been of use: strangers may add it anywhere.
 */
async function admitMembership(
  { log, tellOwner, moved }: AdmitDeps,
  served: ReadonlyMap<string, true>,
  { chat, old_chat_member: was, new_chat_member: is }: z.infer<typeof WireMembership>,
): Promise<void> {
  const facts = { chat: chat.id, was: was.status, is: is.status };
  const isOut = ['left', 'kicked'].includes(is.status);
  const isMute = is.status === 'restricted' && is.can_send_messages === false;
  const how = chat.type === 'private' ? 'blocked' : 'removed from a chat';
  if (isOut) log.warn(facts, `the bot was ${how}`);
  else if (isMute) log.warn(facts, 'the bot may not write in a chat any more');
  else log.info(facts, 'the bot may write in a chat');
  const id = moved.first(String(chat.id));
  if ((!isOut && !isMute) || !served.has(id)) return;
  const name = chat.title === undefined ? 'a group' : `the group ${literal(chat.title)}`;
  const place = inlineCode(`telegram ${id}`);
  const fix = isOut
    ? 'Add it again where it is wanted; else take the group out of the settings, and out of jobs that write there.'
    : 'Give it the right to send messages again.';
  const what = isOut ? 'was removed from' : 'may not write any more in';
  await tellOwner(
    `${isOut ? 'removed' : 'mute'} ${id}`,
    `The bot ${what} ${name} (${place}). ${fix}`,
  );
}

export interface PressDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'log' | 'clock'> {
  readonly api: Pick<TelegramApi, 'call'>;
  /** Ends what is still said to Telegram about a press. */
  readonly stopping: AbortSignal;
}

/** Longest answer to a press, in characters. */
const MAX_ANSWER = 200;

/**
 * Admits a press as a message of the person who pressed; rejects when it must come again (D01). The button's
 * clock stops whatever becomes of it. A person who may not decide gets a private notice, on top of the
 * chat; what is decided loses its buttons. Neither matters for truth: a failure there changes nothing.
 */
async function admitPress(deps: PressDeps, press: WirePress): Promise<void> {
  const message = pressToInbound(press, deps.account, deps.clock());
  let outcome: IngressOutcome | undefined;
  try {
    if (message !== undefined) outcome = await deps.receive(message);
  } finally {
    void answer(deps, press, outcome);
  }
  if (outcome?.kind === 'command' && outcome.settled) void removeButtons(deps, press);
}

async function answer(
  { api, log, stopping }: PressDeps,
  { id }: WirePress,
  outcome: IngressOutcome | undefined,
): Promise<void> {
  const notice = outcome?.kind === 'command' ? outcome.declined : undefined;
  const shown = notice === undefined ? {} : { text: notice.slice(0, MAX_ANSWER), show_alert: true };
  try {
    await api.call('answerCallbackQuery', { callback_query_id: id, ...shown }, stopping);
  } catch (error) {
    log.debug({ reason: reasonOf(error) }, 'press of a button not acknowledged');
  }
}

async function removeButtons(
  { api, log, stopping }: PressDeps,
  { message, from }: WirePress,
): Promise<void> {
  if (message === undefined) return;
  const { chat, message_id, ephemeral_message_id } = message;
  const [method, which] =
    ephemeral_message_id === undefined
      ? ['editMessageReplyMarkup', { message_id }]
      : ['editEphemeralMessageReplyMarkup', { ephemeral_message_id, receiver_user_id: from.id }];
  try {
    await api.call(method, { chat_id: chat.id, ...which }, stopping);
  } catch (error) {
    // Of two presses the second finds them gone.
    const { reason } = callFailureOf(error);
    if (!/message is not modified/i.test(reason)) log.debug({ reason }, 'buttons not removed');
  }
}

/**
 * A pressed button as if that person had written its data, in the place of the button;
 * undefined where there is no place or no data. `now` in ms: a press has no time of its own.
 */
function pressToInbound(
  { id, from, message, data }: WirePress,
  account: string,
  now: number,
): InboundMessage | undefined {
  if (message === undefined || data === undefined) return undefined;
  const above = messageIdOf(message);
  return {
    channel: 'telegram',
    account,
    messageId: pressId(above, id),
    chat: chatOf(message),
    sender: personOf(from),
    text: data,
    pressed: above,
    ...aloneResponse(message, from, id),
    // What the buttons of this bot say is Parley's, and the press is the person's.
    authored: { text: true },
    mentions: [],
    addressed: true,
    sentAt: now,
    variables: {},
  };
}

const ChatMember = z.object({ status: z.string() });
const ADMINISTRATORS: ReadonlySet<string> = new Set(['creator', 'administrator']);
/** A former administrator counts as one for this long. In ms. */
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1_000;

/**
 * Finds out whether the sender of a message is an administrator of its group. Telegram is asked once a
 * minute for each person, and only when a command needs it.
 */
function createAdministrators(
  api: Pick<TelegramApi, 'call'>,
  monotonic: Monotonic,
): (message: InboundMessage) => SenderFacts {
  const known = new BoundedMap<string, { readonly is: boolean; readonly until: number }>(
    MOST_KNOWN,
  );
  return ({ chat, sender }) => ({
    async isAdministrator(signal) {
      // Anonymous administrators and posts of a channel count as the chat itself; other chats are no members.
      if (!/^\d+$/.test(sender.id)) return sender.id === chat.id || sender.id === chat.movedTo;
      const key = `${chat.id} ${sender.id}`;
      const before = known.get(key);
      if (before !== undefined && monotonic() < before.until) return before.is;
      const asked = { chat_id: chat.id, user_id: Number(sender.id) };
      const { status } = ChatMember.parse(await api.call('getChatMember', asked, signal));
      const is = ADMINISTRATORS.has(status);
      known.set(key, { is, until: monotonic() + KNOWN_FOR_MS });
      return is;
    },
  });
}
