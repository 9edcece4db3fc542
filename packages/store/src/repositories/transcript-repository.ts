import type { ExpressionBuilder } from 'kysely';
import type { Database, Sql } from '../database.ts';
import { fromJson } from '../json-column.ts';
import type { PinPlace } from '../pins.ts';
import type { Tables } from '../tables.ts';
import type { NumberedEntry, TranscriptRepository } from '../transcript.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-row.ts';
import { UNDELIVERED } from './literals.ts';

/** Why a part of the turn's answer did not reach its chat; served by `outbox_undelivered`. */
function undelivered(eb: ExpressionBuilder<Tables, 'transcript'>) {
  return eb
    .selectFrom('outbox')
    .select(({ fn }) => fn.max('outbox.error').as('reason'))
    .whereRef('outbox.turn_id', '=', 'transcript.turn_id')
    .where('outbox.turn_id', 'is not', null)
    .where('outbox.state', 'in', UNDELIVERED)
    .as('undelivered');
}

/** The model's history on SQL; only the commit of a turn writes it. */
export function transcriptRepository(database: Database): TranscriptRepository {
  return {
    recent: (conversationId, session, limit) =>
      database.read(async (sql) => {
        const query = entriesOf(sql, { conversationId, session });
        const rows = await query.orderBy('seq', 'desc').limit(limit).execute();
        return rows.reverse().map((row) => {
          const { seq: _seq, at: _at, ...entry } = readEntry(row);
          return entry;
        });
      }),
    newestAfter: (place, after, limit) =>
      database.read(async (sql) => {
        const query = entriesOf(sql, place).where('seq', '>', after);
        const rows = await query.orderBy('seq', 'desc').limit(limit).execute();
        return rows.reverse().map(readEntry);
      }),
    oldestAfter: (place, after, limit) =>
      database.read(async (sql) => {
        const query = entriesOf(sql, place).where('seq', '>', after);
        return (await query.orderBy('seq').limit(limit).execute()).map(readEntry);
      }),
    saidBetween: (place, from, to, limit) =>
      database.read(async (sql) => {
        const query = entriesOf(sql, place)
          .where('created_at', '>=', from)
          .where('created_at', '<', to);
        const newest = query.orderBy('created_at', 'desc').orderBy('seq', 'desc').limit(limit);
        return (await newest.execute()).reverse().map(readEntry);
      }),
    messagesBehind: ({ conversationId, session }, first, last) =>
      database.read(async (sql) => {
        const turns = sql
          .selectFrom('transcript')
          .select('turn_id')
          .where('conversation_id', '=', conversationId)
          .where('session', '=', session)
          .where('seq', '>=', first)
          .where('seq', '<=', last);
        const rows = await sql
          .selectFrom('inbox')
          .select(INBOX_COLUMNS)
          .where('turn_id', 'in', turns)
          .where('turn_id', 'is not', null)
          .orderBy('seq')
          .execute();
        return rows.map(readInboxRow);
      }),
  };
}

function entriesOf(sql: Sql, { conversationId, session }: PinPlace) {
  return sql
    .selectFrom('transcript')
    .select(['seq', 'role', 'content', 'created_at'])
    .select(undelivered)
    .where('conversation_id', '=', conversationId)
    .where('session', '=', session);
}

type EntryRow = Awaited<ReturnType<ReturnType<typeof entriesOf>['execute']>>[number];

function readEntry({
  seq,
  role,
  content,
  created_at,
  undelivered: reason,
}: EntryRow): NumberedEntry {
  return {
    seq,
    at: created_at,
    role,
    content: fromJson(content),
    ...(role === 'assistant' && reason !== null && { undelivered: reason }),
  };
}
