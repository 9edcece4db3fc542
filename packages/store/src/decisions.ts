import type { Generated } from 'kysely';
import { type Approval, readApprovalRow } from './approvals.ts';
import type { Database, Sql } from './database.ts';
import type { MessageKey } from './inbox.ts';
import { HEARTBEAT_LANE } from './literals.ts';
import { type ChatKey, OF_CHAT } from './outbox-parts.ts';
import type { TurnCommit } from './rows.ts';
import { statement } from './statement.ts';
import type { Seq } from './tables.ts';

/** That a message was not taken, by whom it was and why. Never its text. */
export interface Decision extends MessageKey {
  readonly senderId: string;
  readonly outcome: 'ignored' | 'refused';
  readonly reason: string;
  readonly at: number;
  /** When it was written, as the platform says. */
  readonly sentAt?: number;
}

/** What a turn is suspended by: somebody has to say yes. */
export interface AwaitedYes extends Pick<Approval, 'code' | 'tool' | 'approvers'> {
  /** Without an answer it goes on then, in ms. */
  readonly expiresAt: number;
}

/** How the turn of a message went. Times in ms. */
export interface TurnStory {
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly outcome: 'running' | 'stopped' | 'interrupted' | TurnCommit['outcome'];
  readonly reason: string | null;
  /** Only of a turn that is `running` in name: it waits. */
  readonly awaits?: AwaitedYes;
  /** How often it was begun. */
  readonly attempts: number;
  /** Parts of its answer: delivered, on their way, of unknown fate, given up. */
  readonly parts: Readonly<Record<'sent' | 'waiting' | 'unknown' | 'failed', number>>;
}

/** All that is known of what became of one message, or of an alert that went there (D08). */
export interface MessageStory {
  /** Of an alert the id of its run. */
  readonly messageId: string;
  readonly at: number;
  readonly outcome:
    | Decision['outcome']
    | 'command'
    | 'waiting'
    | 'withdrawn'
    | 'set-aside'
    | 'turn'
    | 'alert';
  /** Why it was taken or not; null for what was stored before reasons were. Of an alert the task. */
  readonly reason: string | null;
  /** How often its turn was ended by a later message; absent where it never was. */
  readonly interruptions?: number;
  /** Only of `turn` and `alert`. */
  readonly turn: TurnStory | null;
}

/** Enough to explain yesterday on a busy installation, in about 20 MB. */
const KEPT = 100_000;

/** Of one chat: a flood there must not make the reasons of all others be forgotten. */
const KEPT_OF_CHAT = 20_000;

/** How often a chat is looked through for what is too much. */
const LOOK_EVERY = 500;

/**
 * What ingress decided, and what became of it. Ingress writes the table `decision`, `/why` and the page read
 * it. A power cut may take the last ones: they explain, nothing depends on them.
 */
export type DecisionRepository = ReturnType<typeof decisionRepository>;

export function decisionRepository(database: Database) {
  return {
    /** Notes that a message was not taken; the newest 20,000 of each chat are kept, and 100,000 of all. */
    record: ({
      channel,
      account,
      chatId,
      messageId,
      senderId,
      outcome,
      reason,
      at,
      sentAt,
    }: Decision): Promise<void> =>
      database.write(async (sql) => {
        const chat = { channel, account, chatId };
        const told = { messageId, senderId, outcome, reason, at, sentAt: sentAt ?? null };
        const row = await sql.get(RECORD, { ...chat, ...told });
        if (row === undefined) return;
        sql.send(FORGET, { until: row.seq - KEPT });
        if (row.seq % LOOK_EVERY === 0) sql.send(FORGET_OF_CHAT, chat);
      }, 'process'),

    /** What became of the newest `limit` messages of a chat and alerts in it, oldest first. */
    stories: (chat: ChatKey, limit: number): Promise<readonly MessageStory[]> =>
      database.read(async (sql) => {
        const stories = [
          ...(await notTaken(sql, chat, limit)),
          ...(await taken(sql, chat, limit)),
          ...(await toldAlerts(sql, chat, partsOf)),
        ];
        return stories.sort((a, b) => a.at - b.at).slice(-limit);
      }),
  };
}

const RECORD = statement(`
  insert into decision (channel, account, chat_id, message_id, sender_id, outcome, reason, decided_at,
    sent_at)
  values (:channel, :account, :chatId, :messageId, :senderId, :outcome, :reason, :at, :sentAt)
  on conflict (channel, account, chat_id, message_id) do nothing returning seq`).rows<{
  readonly seq: number;
}>();

const FORGET = statement('delete from decision where seq <= :until');

const FORGET_OF_CHAT = statement(`
  delete from decision where ${OF_CHAT} and seq <= (
    select seq from decision where ${OF_CHAT} order by seq desc limit 1 offset ${KEPT_OF_CHAT})`);

async function notTaken(sql: Sql, chat: ChatKey, limit: number): Promise<MessageStory[]> {
  const rows = await sql
    .selectFrom('decision')
    .select(['message_id', 'decided_at', 'outcome', 'reason'])
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.reverse().map(({ message_id, decided_at, outcome, reason }) => ({
    messageId: message_id,
    at: decided_at,
    outcome,
    reason,
    turn: null,
  }));
}

async function taken(sql: Sql, chat: ChatKey, limit: number): Promise<MessageStory[]> {
  const rows = await sql
    .selectFrom('inbox')
    .leftJoin('turn', 'turn.id', 'inbox.turn_id')
    .select(['message_id', 'received_at', 'inbox.outcome', 'inbox.reason', 'turn_id'])
    .select('interruptions')
    .select(['turn.state as turn_state', 'turn.reason as turn_reason'])
    .select(['started_at', 'finished_at', 'attempts', 'awaits'])
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  const turnIds = [...new Set(rows.flatMap(({ turn_id }) => turn_id ?? []))];
  const parts = await partsOf(sql, turnIds);
  const asked = await awaited(sql, [...new Set(rows.flatMap(({ awaits }) => awaits ?? []))]);
  return rows.reverse().map((row): MessageStory => {
    const { turn_id, turn_state, started_at, attempts } = row;
    const { interruptions } = row;
    const base = {
      messageId: row.message_id,
      at: row.received_at,
      reason: row.reason,
      ...(interruptions > 0 && { interruptions }),
    };
    if (turn_id === null || turn_state === null || started_at === null) {
      return { ...base, outcome: withoutTurn(row.outcome), turn: null };
    }
    const awaits = asked.get(row.awaits ?? '');
    const turn: TurnStory = {
      startedAt: started_at,
      finishedAt: row.finished_at,
      outcome: turn_state,
      reason: row.turn_reason,
      attempts: attempts ?? 1,
      parts: parts.get(turn_id) ?? NO_PARTS,
      ...(awaits === undefined ? {} : { awaits }),
    };
    return { ...base, outcome: 'turn', turn };
  });
}

function withoutTurn(outcome: string | null): MessageStory['outcome'] {
  if (outcome === 'command' || outcome === 'withdrawn') return outcome;
  return outcome === null ? 'waiting' : 'set-aside';
}

const NO_PARTS: TurnStory['parts'] = { sent: 0, waiting: 0, unknown: 0, failed: 0 };

async function partsOf(
  sql: Sql,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, TurnStory['parts']>> {
  const parts = new Map<string, TurnStory['parts']>();
  if (turnIds.length === 0) return parts;
  const rows = await sql
    .selectFrom('outbox')
    .select(['turn_id', 'state'])
    .where('turn_id', 'in', turnIds)
    .execute();
  for (const { turn_id, state } of rows) {
    if (turn_id === null) continue;
    const counted = parts.get(turn_id) ?? NO_PARTS;
    const kind = state === 'pending' || state === 'sending' ? 'waiting' : state;
    parts.set(turn_id, { ...counted, [kind]: counted[kind] + 1 });
  }
  return parts;
}

/** The open questions with these codes. */
async function awaited(
  sql: Sql,
  codes: readonly string[],
): Promise<ReadonlyMap<string, AwaitedYes>> {
  if (codes.length === 0) return new Map();
  const rows = await sql.selectFrom('approval').selectAll().where('code', 'in', codes).execute();
  return new Map(
    rows.map(readApprovalRow).map(({ code, tool, approvers, expiresAt }) => {
      return [code, { code, tool, approvers, expiresAt }];
    }),
  );
}

/** So far back a chat is looked through for alerts, in parts of answers. */
const PARTS = 100;

/** How the parts of each turn fared. */
type PartsOf = (
  sql: Sql,
  turnIds: readonly string[],
) => Promise<ReadonlyMap<string, TurnStory['parts']>>;

/**
 * The alerts of standing tasks that went to a chat lately. Runs of which nobody there was told are
 * left out: they are nobody's business there.
 */
async function toldAlerts(
  sql: Sql,
  chat: ChatKey,
  partsOf: PartsOf,
): Promise<readonly MessageStory[]> {
  const parts = await sql
    .selectFrom('outbox')
    .select('turn_id')
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId)
    .orderBy('seq', 'desc')
    .limit(PARTS)
    .execute();
  const turnIds = [...new Set(parts.flatMap(({ turn_id }) => turn_id ?? []))];
  if (turnIds.length === 0) return [];
  const runs = await sql
    .selectFrom('inbox')
    .innerJoin('beat', 'beat.id', 'inbox.message_id')
    .innerJoin('turn', 'turn.id', 'inbox.turn_id')
    .select(['beat.id', 'beat.task', 'inbox.turn_id', 'received_at', 'attempts'])
    .select(['turn.started_at', 'turn.finished_at'])
    .where('inbox.turn_id', 'in', turnIds)
    .where('inbox.conversation_id', 'like', `${HEARTBEAT_LANE}%`)
    .execute();
  const told = await partsOf(sql, turnIds);
  return runs.flatMap(({ id, task, turn_id, received_at, started_at, finished_at, attempts }) => {
    const counted = told.get(turn_id ?? '');
    if (counted === undefined) return [];
    const turn: TurnStory = {
      startedAt: started_at,
      finishedAt: finished_at,
      outcome: 'answered',
      reason: null,
      attempts,
      parts: counted,
    };
    return { messageId: id, at: received_at, outcome: 'alert' as const, reason: task, turn };
  });
}

/** Messages that were not taken, and why; never their text. */
export interface DecisionTable {
  seq: Seq;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  sender_id: string;
  outcome: Decision['outcome'];
  reason: string;
  decided_at: number;
  /** When it was written, as the platform says. */
  sent_at: Generated<number | null>;
}
