import type { ChannelContext } from '@parley/channels';
import { BoundedMap, type InboundMessage, inlineCode, literal } from '@parley/core';
import { z } from 'zod';
import { createAdministrators } from './administrators.ts';
import type { TelegramApi } from './api.ts';
import { toInbound } from './content.ts';
import { type MovedChats, moveText } from './moved-chats.ts';
import { admitPress } from './presses.ts';
import { createReactionReader } from './reactions.ts';
import { type BotIdentity, WireMembership, WireMessage, WirePress, WireReaction } from './wire.ts';

/** Groups that are remembered as served. */
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
    | 'tellOwner'
    | 'log'
    | 'clock'
    | 'monotonic'
  > {
  readonly moved: MovedChats;
  readonly api: Pick<TelegramApi, 'call' | 'telegram'>;
  /** Called with every message, edited or not. */
  readonly seen: (message: WireMessage) => void;
}

/** An update on its way through the bot: telegraf's context has these fields. */
export interface Arrival {
  readonly update: { readonly update_id: number };
  readonly botInfo: BotIdentity;
}

/** Reads what an update of one kind brings, as it came. Resolves once that is stored or of no use; else rejects (D01). */
type Reader = (content: unknown, arrival: Arrival) => Promise<void>;

/** The readers, by what an update brings; `bot.ts` says which kind goes to which. */
export interface Intake {
  /** Before every update. */
  prepare(): Promise<void>;
  readonly message: Reader;
  readonly edit: Reader;
  readonly press: Reader;
  readonly reaction: Reader;
  readonly membership: Reader;
  /** An update of a kind that has no reader is logged, noted and confirmed. */
  unknown(update: object): Promise<void>;
}

export function createIntake(deps: IntakeDeps): Intake {
  const { account, revise, seen, moved, log } = deps;
  const factsOf = createAdministrators(deps.api, deps.monotonic);
  const readReaction = createReactionReader(deps);
  /** Groups in which somebody was answered. */
  const served = new BoundedMap<string, true>(MAX_SERVED);
  const receive = async (message: InboundMessage) => {
    const named = moved.named(message);
    const outcome = await deps.receive(named, factsOf(named));
    const { id, type } = named.chat;
    if (outcome.kind === 'accepted' && type !== 'direct') served.set(id, true);
    return outcome;
  };
  /** Checks what came; what has another form than expected is logged and confirmed. */
  const reading =
    <T>(schema: z.ZodType<T>, admit: (content: T, me: BotIdentity) => Promise<unknown>): Reader =>
    async (content, { update, botInfo }) => {
      const parsed = schema.safeParse(content);
      if (parsed.success) await admit(parsed.data, botInfo);
      else {
        const facts = { update: update.update_id, reason: parsed.error.message };
        log.warn(facts, 'update not understood');
      }
    };
  const inboundOf = async (message: WireMessage, me: BotIdentity) => {
    seen(message);
    await admitMove(deps, message);
    return toInbound(message, account, me, deps.commands);
  };
  return {
    prepare: () => moved.load(),
    message: reading(WireMessage, async (message, me) => receive(await inboundOf(message, me))),
    edit: reading(WireMessage, async (message, me) => {
      const inbound = await inboundOf(message, me);
      await revise({ kind: 'edited', message: moved.named(inbound) });
    }),
    press: reading(WirePress, (press) => admitPress({ ...deps, receive }, press)),
    reaction: reading(WireReaction, async (reaction) => {
      const inbound = await readReaction(reaction);
      if (inbound !== undefined) await deps.reacted(moved.named(inbound));
    }),
    membership: reading(WireMembership, (membership) => admitMembership(deps, served, membership)),
    unknown: (update) => noteUnknown(deps, update),
  };
}

/** What any update may say about its place and its author. */
const Whereabouts = z.object({
  message_id: z.int().optional().catch(undefined),
  /** Seconds since 1970. */
  date: z.int().optional().catch(undefined),
  chat: z.object({ id: z.int() }).optional().catch(undefined),
  from: z.object({ id: z.int() }).optional().catch(undefined),
  user: z.object({ id: z.int() }).optional().catch(undefined),
});

/** Makes an update without a reader known to operators and to `why`. One without a chat belongs to its author's. */
async function noteUnknown(
  { log, moved, clock, ignored }: IntakeDeps,
  update: object,
): Promise<void> {
  const { update_id, ...contents } = { update_id: 0, ...update };
  const [kind = 'empty update', content] = Object.entries(contents)[0] ?? [];
  log.warn({ update: update_id, kind }, 'update of an unknown kind');
  const { message_id, date, chat, from, user } = Whereabouts.safeParse(content).data ?? {};
  const author = from ?? user;
  const place = chat ?? author;
  const event = {
    chatId: place === undefined ? 'unknown' : moved.first(String(place.id)),
    messageId: message_id === undefined ? `update ${update_id}` : String(message_id),
    ...(author !== undefined && { senderId: String(author.id) }),
    at: date === undefined ? clock() : date * 1000,
  };
  await ignored(event, `Parley does not read what Telegram calls "${kind}"`);
}

/** Both chats get a message about it, the old one first; the owner reads it once. */
async function admitMove(
  { moved, tellOwner, log }: IntakeDeps,
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
  { log, tellOwner, moved }: IntakeDeps,
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
