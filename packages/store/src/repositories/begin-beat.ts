import type { Sql } from '../database.ts';
import type { BeatOrder, BeatSlot } from '../heartbeats.ts';
import { ensureConversation, lockConversation } from './conversation.ts';
import { newInboxRow } from './inbox-row.ts';
import { RUNNING } from './literals.ts';

/** Moves the plan on if it still stands at the slot: the one update that only one caller can make. */
export async function takeSlot(
  sql: Sql,
  { agent, dueAt, nextAt }: BeatSlot,
  reason: string | null,
  now: number,
): Promise<boolean> {
  const taken = await sql
    .updateTable('heartbeat')
    .set({ next_at: nextAt, last_at: now, last_reason: reason })
    .where('agent', '=', agent)
    .where('next_at', '=', dueAt)
    .returning('agent')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Begins a run: its row and the message that begins its turn, unless another one is not over. */
export async function beginBeat(
  sql: Sql,
  { order, slot, now }: { order: BeatOrder; slot: BeatSlot | null; now: number },
): Promise<'begun' | 'busy' | 'gone'> {
  const { id, agent, task, target, message } = order;
  ensureConversation(sql, target, now);
  ensureConversation(sql, message.conversationId, now);
  // Two that begin at once wait for each other here, so that the second finds the run of the first.
  await lockConversation(sql, message.conversationId);
  const running = await sql
    .selectFrom('beat')
    .select('id')
    .where('agent', '=', agent)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (running !== undefined) return running.id === id ? 'gone' : 'busy';
  if (slot !== null && !(await takeSlot(sql, slot, null, now))) return 'gone';
  const begun = await sql
    .insertInto('beat')
    .values({ id, agent, task, target, state: 'running', started_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (begun === undefined) return 'gone';
  await sql.insertInto('inbox').values(newInboxRow(message, 'waiting')).execute();
  return 'begun';
}
