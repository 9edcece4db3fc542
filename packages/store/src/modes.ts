import type { Sql } from './database.ts';
import { WAITING } from './literals.ts';

/** How freely the agent acts in a conversation (G04). Outlives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** What `/mode` found and did. */
export interface ModeChange {
  readonly before: ConversationMode;
  readonly now: ConversationMode;
}

/**
 * What `/run` did. `runs`: the command itself has become the message that runs the plan, and the
 * conversation is in agent mode now. `none`: there is no plan, or something was said since.
 */
export type PlanRun = 'runs' | 'was-run' | 'none';

/** Reads or sets (`to`) the mode of a conversation, which the caller has locked, and does nothing else. */
export async function changeMode(
  sql: Sql,
  conversationId: string,
  to: ConversationMode | null,
): Promise<ModeChange> {
  const { mode: before } = await heldBy(sql, conversationId);
  if (to === null || to === before) return { before, now: before };
  await sql
    .updateTable('conversation')
    .set({ mode: to })
    .where('id', '=', conversationId)
    .execute();
  return { before, now: to };
}

/**
 * Takes the plan of a conversation, which the caller has locked, so that it is run once. `plan` is the
 * turn that wrote it (null: the newest).
 */
export async function takePlan(
  sql: Sql,
  conversationId: string,
  plan: string | null,
): Promise<PlanRun> {
  const held = await heldBy(sql, conversationId);
  if (held.plan === null || (plan ?? held.plan) !== held.plan) return 'none';
  if (held.plan_run === 1) return 'was-run';
  if (await hasWaiting(sql, conversationId)) return 'none';
  await sql
    .updateTable('conversation')
    .set({ mode: 'agent', plan_run: 1 })
    .where('id', '=', conversationId)
    .execute();
  return 'runs';
}

/** Something newer is said than the plan that was waiting, so it is not run any more. */
export async function dropPlan(sql: Sql, conversationId: string): Promise<void> {
  await sql
    .updateTable('conversation')
    .set({ plan: null })
    .where('id', '=', conversationId)
    .where('plan_run', '=', 0)
    .execute();
}

function heldBy(sql: Sql, conversationId: string) {
  return sql
    .selectFrom('conversation')
    .select(['mode', 'plan', 'plan_run'])
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
}

async function hasWaiting(sql: Sql, conversationId: string): Promise<boolean> {
  const row = await sql
    .selectFrom('inbox')
    .select('seq')
    .where('conversation_id', '=', conversationId)
    .where('state', '=', WAITING)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
