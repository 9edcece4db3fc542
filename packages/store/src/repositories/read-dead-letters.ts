import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import type { DeadLetter, DeadPart, DeadTurn, UnansweredMessage } from '../dead-letters.ts';
import type { DeadLetterTable } from '../tables/dead-letter-tables.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-row.ts';
import { OUTBOX_COLUMNS, readPart } from './outbox-repository.ts';

type Row = Selectable<DeadLetterTable>;

/** Rows with what they are about, in their order. */
export async function withSubjects(sql: Sql, rows: readonly Row[]): Promise<readonly DeadLetter[]> {
  const isTurn = ({ kind }: Row) => kind === 'unanswered';
  const [turns, parts] = [rows.filter(isTurn), rows.filter((row) => !isTurn(row))];
  const letters = [...(await deadTurns(sql, turns)), ...(await deadParts(sql, parts))];
  const byId = new Map(letters.map((letter) => [letter.id, letter]));
  return rows.flatMap(({ seq }) => byId.get(seq) ?? []);
}

function common({ seq, died_at, settled, settled_at }: Row) {
  return {
    id: seq,
    diedAt: died_at,
    settled: settled === null ? null : { how: settled, at: settled_at ?? died_at },
  };
}

async function deadParts(sql: Sql, rows: readonly Row[]): Promise<readonly DeadPart[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ subject }) => subject);
  const found = await sql
    .selectFrom('outbox')
    .select([...OUTBOX_COLUMNS, 'channel', 'account', 'chat_id', 'state', 'error'])
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(found.map((part) => [part.id, part]));
  return rows.flatMap((row): DeadPart[] => {
    const stored = byId.get(row.subject);
    if (stored === undefined || row.kind === 'unanswered') return [];
    const { channel, account, chat_id, turn_id, state, error } = stored;
    const { index, body, file } = readPart(stored);
    return [
      {
        ...common(row),
        kind: row.kind,
        partId: row.subject,
        chat: { channel, account, chatId: chat_id },
        turnId: turn_id,
        index,
        text: body.plain,
        file: file?.name ?? null,
        state,
        reason: error,
      },
    ];
  });
}

async function deadTurns(sql: Sql, rows: readonly Row[]): Promise<readonly DeadTurn[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ subject }) => subject);
  const found = await sql
    .selectFrom('turn')
    .select(['id', 'conversation_id', 'reason'])
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(found.map((turn) => [turn.id, turn]));
  const messages = await messagesOf(sql, ids);
  const steps = await stepsOf(sql, ids);
  return rows.flatMap((row): DeadTurn[] => {
    const turn = byId.get(row.subject);
    if (turn === undefined) return [];
    return [
      {
        ...common(row),
        kind: 'unanswered',
        turnId: turn.id,
        conversationId: turn.conversation_id,
        messages: messages.get(turn.id) ?? [],
        steps: steps.get(turn.id) ?? 0,
        reason: turn.reason,
      },
    ];
  });
}

async function messagesOf(
  sql: Sql,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, readonly UnansweredMessage[]>> {
  const rows = await sql
    .selectFrom('inbox')
    .select([...INBOX_COLUMNS, 'turn_id'])
    .where('turn_id', 'in', turnIds)
    .orderBy('seq')
    .execute();
  const byTurn = new Map<string, UnansweredMessage[]>();
  for (const row of rows) {
    const { message, receivedAt: at } = readInboxRow(row);
    const { channel, account, messageId, sender, text } = message;
    const chat = { channel, account, chatId: message.chat.id };
    const written = { messageId, chat, from: sender.name, text, at };
    byTurn.set(row.turn_id ?? '', [...(byTurn.get(row.turn_id ?? '') ?? []), written]);
  }
  return byTurn;
}

async function stepsOf(sql: Sql, turnIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql
    .selectFrom('turn_step')
    .select((eb) => ['turn_id', eb.fn.countAll<number>().as('count')])
    .where('turn_id', 'in', turnIds)
    .groupBy('turn_id')
    .execute();
  return new Map(rows.map(({ turn_id, count }) => [turn_id, count]));
}
