import { type ChatKey, OF_CHAT } from './conversations.ts';
import { defineStatement, type Sql, StoreError } from './database.ts';

/**
 * The chat's state before a part was sent, based on the newest messages in its account and chat.
 */
export interface ChatStateBeforePart {
  /** Messages that already had a platform id before the part was sent; `at` is in ms. */
  readonly known: readonly {
    readonly chatId: string;
    readonly messageId: string;
    readonly direction: 'in' | 'out';
    readonly at: number;
  }[];
  /**
   * When another part in the same chat last became uncertain, in ms; null if that never happened.
   */
  readonly uncertainAt: number | null;
}

/** The number of messages read in each direction to find the newest platform ids. */
const KNOWN_BEFORE = 50;

const PLACE = defineStatement(`
  select channel, account, chat_id as "chatId", coalesce(sending_at, 0) as until from outbox
  where id = :partId`).rows<ChatKey & { readonly until: number }>();

interface PartHistory {
  readonly chatId: string;
  readonly messageId: string | null;
  readonly at: number | null;
}

const SENT_BEFORE = defineStatement(`
  select chat_id as "chatId", platform_message_id as "messageId", sent_at as at from outbox
  where channel = :channel and account = :account and state = 'sent' and sent_at <= :until
  order by seq desc limit ${KNOWN_BEFORE}`).rows<PartHistory>();

const SENT_HERE_BEFORE = defineStatement(`
  select chat_id as "chatId", platform_message_id as "messageId", sent_at as at from outbox
  where ${OF_CHAT} and state = 'sent' and sent_at <= :until
  order by seq desc limit ${KNOWN_BEFORE}`).rows<PartHistory>();

const RECEIVED_BEFORE = defineStatement(`
  select chat_id as "chatId", message_id as "messageId", received_at as at from inbox
  where channel = :channel and account = :account and received_at <= :until
  order by seq desc limit ${KNOWN_BEFORE}`).rows<PartHistory>();

const RECEIVED_HERE_BEFORE = defineStatement(`
  select chat_id as "chatId", message_id as "messageId", received_at as at from inbox
  where ${OF_CHAT} and received_at <= :until
  order by seq desc limit ${KNOWN_BEFORE}`).rows<PartHistory>();

const UNCERTAIN = defineStatement(
  `select max(updated_at) as at from outbox where ${OF_CHAT} and state = 'unknown'`,
).rows<{ readonly at: number | null }>();

/** Reads the state of the chat before a part was marked as sending. */
export async function readChatStateBeforePart(
  sql: Sql,
  partId: string,
): Promise<ChatStateBeforePart> {
  const part = await sql.get(PLACE, { partId });
  if (part === undefined)
    throw new StoreError('store-failed', `Part ${partId} is not in the outbox.`);
  const known = (
    ofAccount: readonly PartHistory[],
    here: readonly PartHistory[],
    direction: 'in' | 'out',
  ) => {
    const others = ofAccount.filter(({ chatId }) => chatId !== part.chatId);
    return [...others, ...here].flatMap(({ messageId, at, ...row }) =>
      messageId === null || at === null ? [] : [{ ...row, messageId, at, direction }],
    );
  };
  return {
    known: [
      ...known(await sql.all(SENT_BEFORE, part), await sql.all(SENT_HERE_BEFORE, part), 'out'),
      ...known(
        await sql.all(RECEIVED_BEFORE, part),
        await sql.all(RECEIVED_HERE_BEFORE, part),
        'in',
      ),
    ],
    uncertainAt: (await sql.get(UNCERTAIN, part))?.at ?? null,
  };
}
