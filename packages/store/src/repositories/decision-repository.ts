import type { Database, Sql } from '../database.ts';
import type { AwaitedYes, DecisionRepository, MessageStory, TurnStory } from '../decisions.ts';
import type { ChatKey } from '../outbox.ts';
import { statement } from '../statement.ts';
import { readApprovalRow } from './approval-row.ts';
import { toldAlerts } from './told-alerts.ts';

/** Enough to explain yesterday on a busy installation, in about 20 MB. */
const KEPT = 100_000;
/** Of one chat: a flood there must not make the reasons of all others be forgotten. */
const KEPT_OF_CHAT = 20_000;
/** How often a chat is looked through for what is too much. */
const LOOK_EVERY = 500;

/** Decisions on SQL. A power cut may take the last ones: they explain, nothing depends on them. */
export function decisionRepository(database: Database): DecisionRepository {
  return {
    record: ({ channel, account, chatId, messageId, senderId, outcome, reason, at, sentAt }) =>
      database.write(async (sql) => {
        const chat = { channel, account, chatId };
        const told = { messageId, senderId, outcome, reason, at, sentAt: sentAt ?? null };
        const row = await sql.get(RECORD, { ...chat, ...told });
        if (row === undefined) return;
        sql.send(FORGET, { until: row.seq - KEPT });
        if (row.seq % LOOK_EVERY === 0) sql.send(FORGET_OF_CHAT, chat);
      }, 'process'),

    stories: (chat, limit) =>
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
const OF_CHAT = 'channel = :channel and account = :account and chat_id = :chatId';
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
