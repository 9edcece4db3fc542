import type { Database, Sql } from '../database.ts';
import { fromJson, toJson } from '../json-column.ts';
import type { StoredSummary, SummaryPlace, SummaryRepository, SummaryTask } from '../summaries.ts';

/** Summaries on SQL. The unique key decides who writes one; no look beforehand does. */
export function summaryRepository(database: Database): SummaryRepository {
  return {
    latest: (place) =>
      database.read(async (sql) =>
        stored(
          await written(sql, place)
            .where('kind', '=', 'history')
            .orderBy('reaches', 'desc')
            .limit(1)
            .executeTakeFirst(),
        ),
      ),
    ofDay: (place, day) =>
      database.read(async (sql) =>
        stored(
          await written(sql, place)
            .where('kind', '=', 'day')
            .where('mark', '=', day)
            .executeTakeFirst(),
        ),
      ),
    claim: (task, { by, now, until, impatient }) =>
      database.write(async (sql) => {
        const claimed = await sql
          .insertInto('summary')
          .values({ ...keyOf(task), claimed_by: by, claimed_until: until, created_at: now })
          .onConflict((conflict) =>
            conflict
              .columns(['conversation_id', 'session', 'reader', 'kind', 'mark'])
              .doUpdateSet({ claimed_by: by, claimed_until: until })
              .where('summary.content', 'is', null)
              .where(({ or, eb }) =>
                or([
                  eb('summary.claimed_until', '<=', now),
                  ...(impatient ? [eb('summary.claimed_by', 'is', null)] : []),
                ]),
              ),
          )
          .returning('seq')
          .executeTakeFirst();
        return claimed !== undefined;
      }),
    finish: (task, by, { content, reaches }) =>
      database.write(async (sql) => {
        const result = await claimedBy(sql, task, by)
          .set({ content: toJson(content), reaches, claimed_by: null })
          .executeTakeFirst();
        return Number(result.numUpdatedRows) === 1;
      }),
    postpone: (task, by, until) =>
      database.write(async (sql) => {
        await claimedBy(sql, task, by).set({ claimed_by: null, claimed_until: until }).execute();
      }),
    releaseAll: () =>
      database.write(async (sql) => {
        await sql
          .updateTable('summary')
          .set({ claimed_by: null, claimed_until: 0 })
          .where('claimed_by', 'is not', null)
          .execute();
      }),
  };
}

function keyOf({ conversationId, session, reader, kind, mark }: SummaryTask) {
  return { conversation_id: conversationId, session, reader, kind, mark };
}

function written(sql: Sql, { conversationId, session, reader }: SummaryPlace) {
  return sql
    .selectFrom('summary')
    .select(['content', 'reaches'])
    .where('conversation_id', '=', conversationId)
    .where('session', '=', session)
    .where('reader', '=', reader)
    .where('content', 'is not', null);
}

function claimedBy(sql: Sql, task: SummaryTask, by: string) {
  return sql
    .updateTable('summary')
    .where('conversation_id', '=', task.conversationId)
    .where('session', '=', task.session)
    .where('reader', '=', task.reader)
    .where('kind', '=', task.kind)
    .where('mark', '=', task.mark)
    .where('content', 'is', null)
    .where('claimed_by', '=', by);
}

function stored(
  row: { readonly content: string | null; readonly reaches: number | null } | undefined,
): StoredSummary | null {
  if (row === undefined || row.content === null || row.reaches === null) return null;
  return { content: fromJson(row.content), reaches: row.reaches };
}
