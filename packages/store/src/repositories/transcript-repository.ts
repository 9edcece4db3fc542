import type { Database } from '../database.ts';
import { fromJson } from '../json-column.ts';
import type { TranscriptRepository } from '../transcript.ts';

/** The model's history on SQL; only the commit of a turn writes it. */
export function transcriptRepository(database: Database): TranscriptRepository {
  return {
    recent: (conversationId, session, limit) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('transcript')
          .select(['role', 'content'])
          .where('conversation_id', '=', conversationId)
          .where('session', '=', session)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.reverse().map(({ role, content }) => ({ role, content: fromJson(content) }));
      }),
  };
}
