import type { Sql } from '../database.ts';

/** Whether a turn is neither stopped nor of a session that `/new` has ended. */
export async function isTurnRunning(sql: Sql, turnId: string): Promise<boolean> {
  const turn = await sql
    .selectFrom('turn')
    .innerJoin('conversation', 'conversation.id', 'turn.conversation_id')
    .select(['turn.session as began', 'conversation.session as now'])
    .where('turn.id', '=', turnId)
    .where('turn.state', '=', 'running')
    .executeTakeFirst();
  return turn !== undefined && turn.began === turn.now;
}
