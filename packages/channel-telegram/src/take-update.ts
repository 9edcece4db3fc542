import type { ChannelContext } from '@parley/channels';
import type { InboundMessage } from '@parley/contracts';
import type { z } from 'zod';
import { createAdministrators } from './administrators.ts';
import type { TelegramApi } from './connection.ts';
import { toInbound } from './content.ts';
import { takePress } from './presses.ts';
import {
  type BotIdentity,
  WireMembership,
  WireMessage,
  WirePress,
  type WireUpdate,
} from './wire.ts';

/** What taking updates needs. */
export interface TakeDeps
  extends Pick<
    ChannelContext<unknown>,
    'account' | 'commands' | 'receive' | 'revise' | 'log' | 'clock'
  > {
  readonly api: Pick<TelegramApi, 'call'>;
  /** Ends what is still said to Telegram about an update. */
  readonly stopping: AbortSignal;
  /** Called with every message, edited or not. */
  readonly seen: (message: WireMessage) => void;
}

/** Resolves once an update is durable or of no use; rejects when it must come again (D01). */
export type TakeUpdate = (update: WireUpdate, me: BotIdentity) => Promise<void>;

/** Makes the one place where updates are told apart. What is not understood is logged and confirmed. */
export function createTakeUpdate(deps: TakeDeps): TakeUpdate {
  const { account, revise, seen } = deps;
  const factsOf = createAdministrators(deps.api, deps.clock);
  const receive = (message: InboundMessage) => deps.receive(message, factsOf(message));
  const read = <T>(schema: z.ZodType<T>, content: unknown, update: WireUpdate): T | undefined => {
    const parsed = schema.safeParse(content);
    if (parsed.success) return parsed.data;
    const facts = { update: update.update_id, reason: parsed.error.message };
    deps.log.warn(facts, 'update not understood');
    return undefined;
  };
  return async (update, me) => {
    const written = update.message ?? update.channel_post;
    const edited = update.edited_message ?? update.edited_channel_post;
    const content = written ?? edited;
    if (content !== undefined) {
      const message = read(WireMessage, content, update);
      if (message === undefined) return;
      seen(message);
      tellMigration(deps, message);
      const inbound = toInbound(message, account, me, deps.commands);
      if (written === undefined) await revise({ kind: 'edited', message: inbound });
      else await receive(inbound);
    } else if (update.callback_query !== undefined) {
      const press = read(WirePress, update.callback_query, update);
      if (press !== undefined) await takePress({ ...deps, receive }, press);
    } else if (update.my_chat_member !== undefined) {
      const membership = read(WireMembership, update.my_chat_member, update);
      if (membership !== undefined) tellMembership(deps, membership);
    }
  };
}

/** Answers follow a group by themselves; a list of allowed groups does not. */
function tellMigration({ log }: TakeDeps, { chat, migrate_to_chat_id }: WireMessage): void {
  if (migrate_to_chat_id === undefined) return;
  const facts = { chat: chat.id, migrateTo: migrate_to_chat_id };
  log.warn(facts, 'a group became a supergroup; if groups are allowed by id, allow the new one');
}

/** Parts that wait for such a chat fail when they are sent, which tells the agent; this tells operators. */
function tellMembership(deps: TakeDeps, membership: z.infer<typeof WireMembership>): void {
  const { chat, old_chat_member, new_chat_member } = membership;
  const facts = { chat: chat.id, was: old_chat_member.status, is: new_chat_member.status };
  const out = ['left', 'kicked'].includes(new_chat_member.status);
  const how = chat.type === 'private' ? 'blocked' : 'removed from a chat';
  if (out) deps.log.warn(facts, `the bot was ${how}`);
  else deps.log.info(facts, 'the bot may write in a chat');
}
