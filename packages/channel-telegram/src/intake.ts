import type { ChannelContext } from '@parley/channels';
import {
  BoundedMap,
  formatInlineCode,
  type InboundMessage,
  ParleyError,
  reasonOf,
  toLiteralMarkdown,
} from '@parley/core';
import { z } from 'zod';
import { createAdministratorLookup } from './administrators.ts';
import type { TelegramApi } from './api.ts';
import type { Intake, UpdateReader } from './bot.ts';
import { listDroppedFields } from './lenient.ts';
import { getUnreadUpdateReason } from './message-fields.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { admitPress } from './presses.ts';
import { createReactionReader } from './reactions.ts';
import { stopToInbound } from './stop-button.ts';
import {
  type BotIdentity,
  WireConnection,
  WireDeletion,
  WireMembership,
  WireMessage,
  WirePress,
  WireReaction,
  WireStop,
} from './wire.ts';
import { BusinessMessage, createMessageReaders, GuestMessage } from './written.ts';

/** The maximum number of groups remembered as served. */
const MAX_SERVED = 1_000;

export interface IntakeDeps
  extends Pick<
    ChannelContext<unknown>,
    | 'account'
    | 'commands'
    | 'receive'
    | 'revise'
    | 'reacted'
    | 'ignored'
    | 'message'
    | 'notifyOwner'
    | 'log'
    | 'clock'
    | 'monotonic'
  > {
  readonly moved: MovedChatRegistry;
  readonly api: Pick<TelegramApi, 'call' | 'telegram'>;
  /** Called with every message, edited or not. */
  readonly seen: (message: WireMessage) => void;
  /** Called when a person has pressed this draft's stop button. */
  readonly stopped: (draftId: number) => void;
}

export function createIntake(deps: IntakeDeps): Intake {
  const { account, moved, log } = deps;
  const factsOf = createAdministratorLookup(deps.api, deps.monotonic);
  const readReaction = createReactionReader(deps);
  /** Groups in which the bot has answered somebody. */
  const served = new BoundedMap<string, true>(MAX_SERVED);
  const receive = async (message: InboundMessage) => {
    const named = moved.named(message);
    const outcome = await deps.receive(named, factsOf(named));
    const { id, type } = named.chat;
    if (outcome.kind === 'accepted' && type !== 'direct') served.set(id, true);
    return outcome;
  };
  /** Validates the content of an update. Invalid content is logged, recorded and confirmed. */
  const reading =
    <T extends object>(
      schema: z.ZodType<T>,
      admit: (content: T, me: BotIdentity) => Promise<unknown>,
    ): UpdateReader =>
    async (content, { update, botInfo }) => {
      const parsed = schema.safeParse(content);
      if (!parsed.success) {
        const facts = { update: update.update_id, reason: parsed.error.message };
        log.warn(facts, 'update not understood');
        await recordIgnoredUpdate(deps, update, 'its form differs from what Telegram documents');
        return;
      }
      const fields = listDroppedFields(content, parsed.data);
      if (fields.length > 0)
        log.warn({ update: update.update_id, fields }, 'fields not understood');
      try {
        await admit(parsed.data, botInfo);
      } catch (error) {
        // Otherwise Telegram would redeliver the update forever, and it would block all later ones.
        if (!isCoreRejection(error)) throw error;
        log.error({ update: update.update_id, reason: reasonOf(error) }, 'update not taken');
        await recordIgnoredUpdate(deps, update, 'its content cannot be stored');
      }
    };
  const messages = createMessageReaders(deps, receive);
  return {
    prepare: () => moved.load(),
    message: reading(WireMessage, messages.sent),
    edit: reading(WireMessage, messages.edited),
    businessMessage: reading(BusinessMessage, messages.sent),
    businessEdit: reading(BusinessMessage, messages.edited),
    businessDeletion: reading(WireDeletion, messages.deleted),
    businessConnection: reading(WireConnection, messages.connected),
    guestMessage: reading(GuestMessage, messages.sent),
    press: reading(WirePress, (press) => admitPress({ ...deps, receive: messages.pressed }, press)),
    stop: reading(WireStop, async (stop) => {
      deps.stopped(stop.draft_id);
      await receive(stopToInbound(stop, account, deps.clock()));
    }),
    reaction: reading(WireReaction, async (reaction) => {
      const inbound = await readReaction(reaction);
      if (inbound !== undefined) await deps.reacted(moved.named(inbound));
    }),
    membership: reading(WireMembership, (membership) =>
      reportMembershipChange(deps, served, membership),
    ),
    unknown: (update) => recordUnknownUpdate(deps, update),
  };
}

/** Whether the core rejected the content of an update, which it would do on every redelivery. */
function isCoreRejection(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'inbound-invalid';
}

const Id = z.object({ id: z.int() }).optional().catch(undefined);
/** The fields of an update that identify its chat and author. */
const Whereabouts = z.object({
  message_id: z.int().optional().catch(undefined),
  /** A Unix time in seconds. */
  date: z.int().nonnegative().optional().catch(undefined),
  chat: Id,
  from: Id,
  user: Id,
});

/**
 * Records an update that is not processed, so that `why` can explain it. An update without a chat
 * is recorded in its author's chat.
 */
async function recordIgnoredUpdate(
  { moved, clock, ignored }: IntakeDeps,
  update: object,
  reason: string,
): Promise<void> {
  const { update_id, ...contents } = { update_id: 0, ...update };
  const content = Object.values(contents)[0];
  const { message_id, date, chat, from, user } = Whereabouts.safeParse(content).data ?? {};
  const author = from ?? user;
  const place = chat ?? author;
  const event = {
    chatId: place === undefined ? 'unknown' : moved.first(String(place.id)),
    messageId: message_id === undefined ? `update ${update_id}` : String(message_id),
    ...(author !== undefined && { senderId: String(author.id) }),
    at: date === undefined ? clock() : date * 1000,
  };
  await ignored(event, reason);
}

/** Records an update of an unsupported kind. */
async function recordUnknownUpdate(deps: IntakeDeps, update: object): Promise<void> {
  const { update_id, ...contents } = { update_id: 0, ...update };
  const [kind = 'empty update'] = Object.keys(contents);
  deps.log.warn({ update: update_id, kind }, 'an update of an unknown kind');
  await recordIgnoredUpdate(deps, update, getUnreadUpdateReason(kind));
}

/**
 * Reports that the bot was added, removed or muted. Parts pending for the chat fail when they are
 * sent, and the agent sees these failures; this report is for operators. The owner is notified only
 * about groups in which the bot has answered, because strangers may add the bot to any group.
 */
async function reportMembershipChange(
  { log, notifyOwner, moved }: IntakeDeps,
  served: ReadonlyMap<string, true>,
  { chat, old_chat_member: was, new_chat_member: is }: z.infer<typeof WireMembership>,
): Promise<void> {
  const facts = { chat: chat.id, was: was.status, is: is.status };
  const isOut = ['left', 'kicked'].includes(is.status);
  const isMute = is.status === 'restricted' && is.can_send_messages === false;
  const how = chat.type === 'private' ? 'blocked' : 'removed from a chat';
  if (isOut) log.warn(facts, `the bot was ${how}`);
  else if (isMute) log.warn(facts, 'the bot may no longer write in a chat');
  else log.info(facts, 'the bot may write in a chat');
  const id = moved.first(String(chat.id));
  if ((!isOut && !isMute) || !served.has(id)) return;
  const name = chat.title === undefined ? 'a group' : `the group ${toLiteralMarkdown(chat.title)}`;
  const place = formatInlineCode(`telegram ${id}`);
  const fix = isOut
    ? 'Add it again if you still want it there; otherwise remove the group from the settings and from jobs that write there.'
    : 'Allow it to send messages again.';
  const what = isOut ? 'was removed from' : 'may no longer write in';
  await notifyOwner(
    `${isOut ? 'removed' : 'mute'} ${id}`,
    `The bot ${what} ${name} (${place}). ${fix}`,
  );
}
