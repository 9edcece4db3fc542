import type { ConversationRow } from './conversations.ts';
import { type Sql, statement } from './database.ts';

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
  sql.send(SET_MODE, { id: conversationId, mode: to });
  return { before, now: to };
}

/** What `/model` found and did; null: the model of the settings. */
export interface ModelChange {
  readonly now: string | null;
}

/** Reads or sets the model of a conversation, which the caller has locked; `null` is that of the settings. */
export async function changeModel(
  sql: Sql,
  conversationId: string,
  change: { readonly to: string | null } | 'show',
): Promise<ModelChange> {
  if (change === 'show') return { now: (await heldBy(sql, conversationId)).model };
  sql.send(SET_MODEL, { id: conversationId, model: change.to });
  return { now: change.to };
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
  if ((await sql.get(ONE_WAITING, { id: conversationId })) !== undefined) return 'none';
  sql.send(RUN_PLAN, { id: conversationId });
  return 'runs';
}

/** Something newer is said than the plan that was waiting, so it is not run any more. */
export function dropPlan(sql: Sql, conversationId: string): void {
  sql.send(DROP_PLAN, { id: conversationId });
}

async function heldBy(sql: Sql, conversationId: string) {
  const held = await sql.get(HELD, { id: conversationId });
  if (held === undefined) throw new Error(`There is no conversation ${conversationId}.`);
  return held;
}

const HELD = statement('select mode, plan, plan_run, model from conversation where id = :id').rows<
  Pick<ConversationRow, 'mode' | 'plan' | 'plan_run' | 'model'>
>();

const SET_MODE = statement('update conversation set mode = :mode where id = :id');

const SET_MODEL = statement('update conversation set model = :model where id = :id');

const RUN_PLAN = statement(`update conversation set mode = 'agent', plan_run = 1 where id = :id`);

const DROP_PLAN = statement('update conversation set plan = null where id = :id and plan_run = 0');

const ONE_WAITING = statement(
  `select seq from inbox where conversation_id = :id and state = 'waiting' limit 1`,
).rows<{ readonly seq: number }>();
