import type { Database, Sql } from './database.ts';
import { RUNNING, UNFINISHED, WAITING } from './literals.ts';

/** A conversation in which messages wait for a turn. */
interface WaitingConversation {
  readonly conversationId: string;
  readonly messages: number;
  /** When the oldest was received, in ms. */
  readonly oldestAt: number;
}

/** A turn that is under way. Times in ms. */
interface RunningTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly startedAt: number;
  /** How often it was begun. */
  readonly attempts: number;
  /** Who works on it; null: nobody just now. */
  readonly owner: string | null;
  readonly leaseUntil: number | null;
  /** It waits for somebody's yes. */
  readonly isSuspended: boolean;
}

/** What an account has still to send. */
interface OwedByAccount {
  readonly channel: string;
  readonly account: string;
  readonly pending: number;
  readonly sending: number;
  readonly chats: number;
  /** When the oldest of them was stored, in ms. */
  readonly oldestAt: number;
}

/** What waits, runs and is still to be sent; each list begins with the oldest and is cut at the limit. */
export interface Backlog {
  readonly messages: number;
  readonly conversations: number;
  readonly turns: number;
  readonly waiting: readonly WaitingConversation[];
  readonly running: readonly RunningTurn[];
  readonly outgoing: readonly OwedByAccount[];
}

/** The work that is not done yet; it has no table of its own and writes nothing. Status and page read it. */
export type BacklogRepository = ReturnType<typeof backlogRepository>;

/** Each query goes by an index that holds nothing else. */
export function backlogRepository(database: Database) {
  return {
    look: (limit: number) =>
      database.read(
        async (sql): Promise<Backlog> => ({
          ...(await totals(sql)),
          waiting: await waiting(sql, limit),
          running: await running(sql, limit),
          outgoing: await outgoing(sql, limit),
        }),
      ),
  };
}

async function totals(sql: Sql) {
  const { messages, conversations } = await sql
    .selectFrom('inbox')
    .select((eb) => [
      eb.fn.countAll<number>().as('messages'),
      eb.fn.count<number>('conversation_id').distinct().as('conversations'),
    ])
    .where('state', '=', WAITING)
    .executeTakeFirstOrThrow();
  const { turns } = await sql
    .selectFrom('turn')
    .select((eb) => eb.fn.countAll<number>().as('turns'))
    .where('state', '=', RUNNING)
    .executeTakeFirstOrThrow();
  return { messages, conversations, turns };
}

async function waiting(sql: Sql, limit: number): Promise<readonly WaitingConversation[]> {
  const rows = await sql
    .selectFrom('inbox')
    .select((eb) => [
      'conversation_id',
      eb.fn.countAll<number>().as('messages'),
      eb.fn.min('received_at').as('oldest'),
    ])
    .where('state', '=', WAITING)
    .groupBy('conversation_id')
    .orderBy('oldest')
    .limit(limit)
    .execute();
  return rows.map(({ conversation_id, messages, oldest }) => ({
    conversationId: conversation_id,
    messages,
    oldestAt: oldest,
  }));
}

async function running(sql: Sql, limit: number): Promise<readonly RunningTurn[]> {
  const rows = await sql
    .selectFrom('turn')
    .innerJoin('conversation', 'conversation.id', 'turn.conversation_id')
    .select(['turn.id', 'turn.conversation_id', 'started_at', 'attempts', 'awaits'])
    .select(['lease_owner', 'lease_until'])
    .where('turn.state', '=', RUNNING)
    .orderBy('started_at')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    turnId: row.id,
    conversationId: row.conversation_id,
    startedAt: row.started_at,
    attempts: row.attempts,
    owner: row.lease_owner,
    leaseUntil: row.lease_until,
    isSuspended: row.awaits !== null,
  }));
}

async function outgoing(sql: Sql, limit: number): Promise<readonly OwedByAccount[]> {
  const rows = await sql
    .selectFrom('outbox')
    .select((eb) => [
      'channel',
      'account',
      eb.fn.countAll<number>().as('parts'),
      eb.fn.countAll<number>().filterWhere('state', '=', 'sending').as('sending'),
      eb.fn.count<number>('chat_id').distinct().as('chats'),
      eb.fn.min('created_at').as('oldest'),
    ])
    .where('state', 'in', UNFINISHED)
    .groupBy(['channel', 'account'])
    .orderBy('oldest')
    .limit(limit)
    .execute();
  return rows.map(({ channel, account, parts, sending, chats, oldest }) => ({
    channel,
    account,
    pending: parts - sending,
    sending,
    chats,
    oldestAt: oldest,
  }));
}
