import { BoundedMap, type InboundMessage, type Logger } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { toCallFailure } from './failures.ts';
import { parseThreadId } from './places.ts';
import { formatPersonName } from './senders.ts';
import { WireConnection } from './wire.ts';

/** The maximum number of cached connections; others are requested from Telegram again. */
const MAX_KNOWN = 1_000;

interface BusinessDeps {
  readonly api: Pick<TelegramApi, 'telegram'>;
  readonly log: Logger;
}

/** A message in a business account's chat, or the reason why it is not answered. */
type BusinessMessageResult =
  | { readonly kind: 'served'; readonly message: InboundMessage }
  | { readonly kind: 'ignored'; readonly reason: string };

/**
 * The business accounts that people have connected the bot to, so that it writes to their customers
 * on their behalf. Anyone on Telegram can connect any bot to their account, so such a chat is
 * served only if the access list names the account as `business:ID` or all groups are open.
 */
export function createBusinessAccounts({ api, log }: BusinessDeps) {
  const known = new BoundedMap<string, WireConnection>(MAX_KNOWN);
  /**
   * Returns undefined when Telegram has no such connection. Rejects when Telegram cannot be
   * reached.
   */
  const connectionOf = async (id: string): Promise<WireConnection | undefined> => {
    const before = known.get(id);
    if (before !== undefined) return before;
    try {
      const asked = { business_connection_id: id };
      const telegram = await api.telegram();
      const answer = await telegram.callApi('getBusinessConnection', asked);
      const connection = WireConnection.safeParse(answer).data;
      if (connection !== undefined) known.set(id, connection);
      return connection;
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      const isForGood = failure.kind === 'refused' && failure.code >= 400 && failure.code < 429;
      if (!isForGood) throw thrown;
      log.warn(
        { connection: id, reason: failure.reason },
        'a business connection could not be looked up',
      );
      return undefined;
    }
  };
  return {
    /** Updates the cache when a connection was established, changed or ended. */
    changed(connection: WireConnection): void {
      known.set(connection.id, connection);
      const { user, is_enabled } = connection;
      const facts = { person: user.id, name: formatPersonName(user), enabled: is_enabled };
      log.info(facts, `a business account; access.allowGroups serves it as business:${user.id}`);
    },
    /**
     * Adds the business account that a message belongs to. Messages in the bot's own chats do not
     * belong to a business account.
     */
    async place(message: InboundMessage): Promise<BusinessMessageResult> {
      const place = parseThreadId(message.chat.threadId);
      if (place.kind !== 'business') return { kind: 'served', message };
      const connection = await connectionOf(place.connection);
      if (connection?.is_enabled === false)
        return { kind: 'ignored', reason: 'the business account has ended its connection' };
      if (connection?.rights !== undefined && connection.rights.can_reply !== true)
        return { kind: 'ignored', reason: 'the business account does not let the bot reply' };
      if (connection === undefined) return { kind: 'served', message };
      const within = `business:${connection.user.id}`;
      return { kind: 'served', message: { ...message, chat: { ...message.chat, within } } };
    },
  };
}
