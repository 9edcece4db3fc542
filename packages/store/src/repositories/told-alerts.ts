import type { Sql } from '../database.ts';
import type { MessageStory, TurnStory } from '../decisions.ts';
import { HEARTBEAT_LANE } from '../heartbeats.ts';
import type { ChatKey } from '../outbox.ts';

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
export async function toldAlerts(
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
