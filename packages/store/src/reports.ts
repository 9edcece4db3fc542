import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';
import type { Row } from './tables.ts';
import { buildTakenOverCondition } from './taken-over.ts';

/** A conversation with messages waiting for a turn. */
interface WaitingConversation {
  readonly conversationId: string;
  readonly messages: number;
  /** When the oldest waiting message was received, in ms. */
  readonly oldestAt: number;
}

/** A running turn; times are in ms. */
interface RunningTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly startedAt: number;
  /** How many times the turn was started. */
  readonly attempts: number;
  /** The worker that runs the turn; null if no worker does. */
  readonly owner: string | null;
  readonly leaseUntil: number | null;
  /** Whether the turn waits for an approval. */
  readonly isSuspended: boolean;
}

/** An account's unsent outbox parts. */
interface AccountUnsentParts {
  readonly channel: string;
  readonly account: string;
  readonly pending: number;
  readonly sending: number;
  readonly chats: number;
  /** When the oldest unsent part was stored, in ms. */
  readonly oldestAt: number;
}

/**
 * Waiting, running and outgoing work; each list starts with the oldest entry and is truncated at
 * the limit.
 */
export interface Backlog {
  readonly messages: number;
  readonly conversations: number;
  readonly turns: number;
  /**
   * When the oldest message that waits for the agent was received, in ms; null if no message waits.
   * Conversations that a person has taken over, or that wait for a person's decision, do not count.
   */
  readonly oldestAt: number | null;
  readonly waiting: readonly WaitingConversation[];
  readonly running: readonly RunningTurn[];
  readonly outgoing: readonly AccountUnsentParts[];
}

/**
 * The oldest waiting work, for the readiness check. Times are in ms since the Unix epoch; null if
 * there is no waiting work.
 */
export interface OldestWork {
  /**
   * The oldest message that a worker could take now; this excludes conversations with a running
   * turn and conversations that a person has taken over.
   */
  readonly message: { readonly seq: number; readonly at: number } | null;
  /** When a turn in any conversation last started or ended; null if no turn has run. */
  readonly lastTurnAt: number | null;
  /**
   * For each account, the oldest part that could be sent now; only the first unsent part in each
   * chat counts.
   */
  readonly parts: readonly OldestPart[];
}

interface OldestPart {
  readonly channel: string;
  readonly account: string;
  readonly seq: number;
  readonly at: number;
}

/**
 * Reports unfinished work. The reports only read tables that belong to other files; status and the
 * page show them. Each query uses an index that contains only unfinished work.
 */
export function createBacklogRepository(database: Database) {
  return {
    oldest: (now: number): Promise<OldestWork> =>
      database.read(async (sql) => ({
        message: (await sql.get(OLDEST_MESSAGE, { now })) ?? null,
        lastTurnAt: (await sql.get(LAST_TURN))?.at ?? null,
        parts: await sql.all(OLDEST_PARTS, { now }),
      })),

    read: (limit: number, now: number) =>
      database.read(
        async (sql): Promise<Backlog> => ({
          ...((await sql.get(TOTALS)) ?? { messages: 0, conversations: 0, turns: 0 }),
          oldestAt: (await sql.get(OLDEST_FOR_AGENT, { now }))?.at ?? null,
          waiting: await sql.all(WAITING, { limit }),
          running: await listRunningTurns(sql, limit),
          outgoing: await sql.all(OUTGOING, { limit }),
        }),
      ),
  };
}

const OLDEST_MESSAGE = defineStatement(`
  select seq, received_at as at from inbox where state = 'waiting'
    and (settles_at is null or settles_at <= :now)
    and not exists (select 1 from turn
      where turn.conversation_id = inbox.conversation_id and turn.state = 'running')
    and not exists (select 1 from conversation
      where conversation.id = inbox.conversation_id and conversation.taken_over_until > :now)
  order by seq limit 1`).rows<NonNullable<OldestWork['message']>>();

const LAST_TURN = defineStatement(`
  select max(at) as at from (
    select max(started_at) as at from turn where state = 'running'
    union all select max(finished_at) from turn
  ) moments`).rows<{ readonly at: number | null }>();

// A part that was never tried always counts as due, because only a clock change can have moved its
// time into the future.
const OLDEST_PARTS = defineStatement(`
  select part.channel, part.account, part.seq,
    case when part.attempts = 0 then part.created_at else part.not_before end as at
  from outbox part join (
    select min(first.seq) as seq from (
      select channel, account, min(seq) as seq from outbox
      where state in ('pending', 'sending') group by channel, account, chat_id
    ) first join outbox on outbox.seq = first.seq
    where outbox.state = 'pending' and (outbox.attempts = 0 or outbox.not_before <= :now)
    group by first.channel, first.account
  ) oldest on oldest.seq = part.seq
  order by part.channel, part.account`).rows<OldestPart>();

const TOTALS = defineStatement(`
  select count(*) as messages, count(distinct conversation_id) as conversations,
    (select count(*) from turn where state = 'running') as turns
  from inbox where state = 'waiting'`).rows<
  Pick<Backlog, 'messages' | 'conversations' | 'turns'>
>();

const OLDEST_FOR_AGENT = defineStatement(`
  select min(received_at) as at from inbox where state = 'waiting'
    and not exists (select 1 from turn where turn.conversation_id = inbox.conversation_id
      and turn.state = 'running' and turn.awaits is not null)
    and not exists (select 1 from conversation
      where conversation.id = inbox.conversation_id and ${buildTakenOverCondition(':now', 'conversation')})`).rows<{
  readonly at: number | null;
}>();

const WAITING = defineStatement(`
  select conversation_id as "conversationId", count(*) as messages, min(received_at) as "oldestAt"
  from inbox where state = 'waiting'
  group by conversation_id order by min(received_at) limit :limit`).rows<WaitingConversation>();

async function listRunningTurns(sql: Sql, limit: number): Promise<readonly RunningTurn[]> {
  const rows = await sql.all(RUNNING, { limit });
  return rows.map(({ awaits, ...row }) => ({ ...row, isSuspended: awaits !== null }));
}

const RUNNING = defineStatement(`
  select turn.id as "turnId", conversation_id as "conversationId", started_at as "startedAt", attempts,
    lease_owner as owner, lease_until as "leaseUntil", awaits
  from turn join conversation on conversation.id = turn.conversation_id
  where turn.state = 'running' order by started_at limit :limit`).rows<
  Omit<RunningTurn, 'isSuspended'> & { readonly awaits: string | null }
>();

const OUTGOING = defineStatement(`
  select channel, account, count(*) filter (where state = 'pending') as pending,
    count(*) filter (where state = 'sending') as sending, count(distinct chat_id) as chats,
    min(created_at) as "oldestAt"
  from outbox where state in ('pending', 'sending')
  group by channel, account order by min(created_at) limit :limit`).rows<AccountUnsentParts>();

/** A person whom an owner allowed, or a linked account, with its last use; times are in ms. */
interface KnownPerson {
  /** `channel:userId`. */
  readonly personId: string;
  readonly since: number;
  /** The last day on which the person used the model (`2026-11-21`); null if unknown. */
  readonly lastDay: string | null;
}

/** A tool call from a finished turn's journal. */
interface JournalledWrite {
  readonly tool: string;
  /** The call's arguments as the model wrote them: unchecked JSON. */
  readonly input: string;
  readonly conversationId: string;
  readonly at: number;
  /** The person who approved the call; null if no approval was needed. */
  readonly approvedBy: string | null;
}

/** The maximum number of turns whose journals are read, newest first. */
const MAX_TURNS = 1_000;

/** Read-only queries for `parley audit`; message processing does not use them. */
export function createAuditRepository(database: Database) {
  return {
    /** Lists people whom an owner allowed with a code. */
    allowedPeople: (): Promise<readonly KnownPerson[]> =>
      database.read((sql) => sql.all(ALLOWED, { colon: ':' })),

    linked: (): Promise<readonly KnownPerson[]> => database.read((sql) => sql.all(LINKED)),

    /**
     * Lists successful calls to the given tools in turns that have ended since the given time,
     * newest first.
     */
    writes: (tools: readonly string[], since: number) =>
      database.read((sql) => listWritesSince(sql, tools, since)),
  };
}

const ALLOWED = defineStatement(`
  select channel || :colon || sender_id as "personId", allowed_at as since, max(day) as "lastDay"
  from allowed_sender left join spend on person_id = channel || :colon || sender_id
  group by channel, account, sender_id, allowed_at`).rows<KnownPerson>();

const LINKED = defineStatement(`
  select person_link.person_id as "personId", linked_at as since, max(day) as "lastDay"
  from person_link left join spend on spend.person_id = person_link.person_id
  group by person_link.person_id, linked_at order by person_link.person_id`).rows<KnownPerson>();

const TURNS = defineStatement(`
  select id, conversation_id from turn where finished_at >= :since
  order by finished_at desc limit ${MAX_TURNS}`).rows<{
  readonly id: string;
  readonly conversation_id: string;
}>();

const STEPS = defineStatement(`
  select turn_id, step_index, content, created_at from turn_step
  where turn_id in (select value from json_each(:turns))
    and exists (select 1 from json_each(:patterns) where content like value)
  order by created_at desc`).rows<
  Row<'turn_step', 'turn_id' | 'step_index' | 'content' | 'created_at'>
>();

const DECIDED = defineStatement(`
  select call_key, decided_by from approval
  where turn_id in (select value from json_each(:turns)) and decided_by is not null`).rows<{
  readonly call_key: string;
  readonly decided_by: string;
}>();

async function listWritesSince(
  sql: Sql,
  tools: readonly string[],
  since: number,
): Promise<readonly JournalledWrite[]> {
  const turns = await sql.all(TURNS, { since });
  if (turns.length === 0) return [];
  const ids = encodeJson(turns.map(({ id }) => id));
  const conversations = new Map(turns.map((turn) => [turn.id, turn.conversation_id]));
  const patterns = [...tools.map((tool) => `%"name":"${tool}"%`), '{"kind":"result"%'];
  const steps = await sql.all(STEPS, { turns: ids, patterns: encodeJson(patterns) });
  const approvals = await sql.all(DECIDED, { turns: ids });
  const deciders = new Map(approvals.map((row) => [row.call_key, row.decided_by]));
  const read = steps.map((step) => ({ ...step, content: Object(JSON.parse(step.content)) }));
  const done = new Set(
    read.flatMap(({ content }) =>
      content.kind === 'result' && content.failed === false ? [String(content.call)] : [],
    ),
  );
  return read.flatMap(({ turn_id, step_index, content, created_at }) => {
    const calls: unknown[] = Array.isArray(content.calls) ? content.calls : [];
    return calls.flatMap((call, nth) => {
      const { name, arguments: input } = Object(call);
      const key = `${turn_id}.${step_index}.${nth}`;
      if (!tools.includes(name) || !done.has(key)) return [];
      return [
        {
          tool: String(name),
          input: String(input),
          conversationId: conversations.get(turn_id) ?? '',
          at: created_at,
          approvedBy: deciders.get(key) ?? null,
        },
      ];
    });
  });
}
