import type { ExpressionBuilder } from 'kysely';
import type { Database } from '../database.ts';
import { fromJson } from '../json-column.ts';
import type { Tables } from '../tables.ts';
import type { TranscriptRepository } from '../transcript.ts';
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
        const rows = await sql
          .selectFrom('transcript')
          .select(['role', 'content'])
          .select(undelivered)
          .where('conversation_id', '=', conversationId)
          .where('session', '=', session)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.reverse().map(({ role, content, undelivered: reason }) => ({
          role,
          content: fromJson(content),
          ...(role === 'assistant' && reason !== null && { undelivered: reason }),
        }));
      }),
  };
}
