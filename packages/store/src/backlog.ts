import { type Database, type Sql, statement } from './database.ts';

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
  /** How often it was started. */
  readonly attempts: number;
  /** The worker that runs it; null: none. */
  readonly owner: string | null;
  readonly leaseUntil: number | null;
  /** It waits for an approval. */
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

/**
 * The work that is not done yet; it has no table of its own and writes nothing. Status and page read it. Each query
 * goes by an index that holds nothing else.
 */
export function backlogRepository(database: Database) {
  return {
    look: (limit: number) =>
      database.read(
        async (sql): Promise<Backlog> => ({
          ...(await totals(sql)),
          waiting: await sql.all(WAITING, { limit }),
          running: await running(sql, limit),
          outgoing: await sql.all(OUTGOING, { limit }),
        }),
      ),
  };
}

async function totals(sql: Sql) {
  const found = await sql.get(TOTALS);
  return found ?? { messages: 0, conversations: 0, turns: 0 };
}

const TOTALS = statement(`
  select count(*) as messages, count(distinct conversation_id) as conversations,
    (select count(*) from turn where state = 'running') as turns
  from inbox where state = 'waiting'`).rows<
  Pick<Backlog, 'messages' | 'conversations' | 'turns'>
>();

const WAITING = statement(`
  select conversation_id as "conversationId", count(*) as messages, min(received_at) as "oldestAt"
  from inbox where state = 'waiting'
  group by conversation_id order by min(received_at) limit :limit`).rows<WaitingConversation>();

async function running(sql: Sql, limit: number): Promise<readonly RunningTurn[]> {
  const rows = await sql.all(RUNNING, { limit });
  return rows.map(({ awaits, ...row }) => ({ ...row, isSuspended: awaits !== null }));
}

const RUNNING = statement(`
  select turn.id as "turnId", conversation_id as "conversationId", started_at as "startedAt", attempts,
    lease_owner as owner, lease_until as "leaseUntil", awaits
  from turn join conversation on conversation.id = turn.conversation_id
  where turn.state = 'running' order by started_at limit :limit`).rows<
  Omit<RunningTurn, 'isSuspended'> & { readonly awaits: string | null }
>();

const OUTGOING = statement(`
  select channel, account, count(*) filter (where state = 'pending') as pending,
    count(*) filter (where state = 'sending') as sending, count(distinct chat_id) as chats,
    min(created_at) as "oldestAt"
  from outbox where state in ('pending', 'sending')
  group by channel, account order by min(created_at) limit :limit`).rows<OwedByAccount>();
