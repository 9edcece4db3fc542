import type { NewId } from '@parley/contracts';
import type { Database, Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { CommitResult, Lease, TurnCommit, TurnUsage } from '../rows.ts';
import { lockLeased } from './conversation.ts';
import { RUNNING } from './literals.ts';
import { insertParts } from './new-parts.ts';
import { forgetOverheard } from './overheard-repository.ts';
import { recordDeadTurn } from './record-dead-letter.ts';
import { addSpend } from './spend-repository.ts';

interface Commit {
  readonly lease: Lease;
  readonly commit: TurnCommit;
  readonly now: number;
  readonly newId: NewId;
}

/** Ends a turn: its row, its messages, its history and its parts, or nothing at all. */
export async function commitTurn(
  database: Database,
  sql: Sql,
  { lease, commit, now, newId }: Commit,
): Promise<CommitResult> {
  if ((await lockLeased(database, sql, lease)) === null) return 'fenced';
  const counted = await countedOf(sql, commit.turnId);
  const session = await finishTurn(sql, lease, commit, now);
  // A turn that is over already: this is the same commit again, or the turn of another lane.
  if (session === null) return 'fenced';
  await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: commit.outcome })
    .where('turn_id', '=', commit.turnId)
    .execute();
  forgetOverheard(sql, commit.turnId);
  const { account, usage } = commit;
  if (account !== undefined && usage !== null) addSpend(sql, account, rest(usage, counted));
  await insertEntries(sql, lease, commit, session, now);
  if (commit.isPlan === true) {
    await sql
      .updateTable('conversation')
      .set({ plan: commit.turnId, plan_run: 0 })
      .where('id', '=', lease.conversationId)
      .execute();
  }
  if (commit.outcome === 'failed') {
    recordDeadTurn(sql, lease.conversationId, commit.turnId, now);
  }
  insertParts(sql, commit.parts, { turnId: commit.turnId, now, newId, trace: commit.trace });
  return 'committed';
}

type Counted = Pick<TurnUsage, 'inputTokens' | 'outputTokens' | 'costUsd'>;

/** What the steps of a turn have put on somebody's account already. */
async function countedOf(sql: Sql, turnId: string): Promise<Counted> {
  const row = await sql
    .selectFrom('turn')
    .select(['input_tokens', 'output_tokens', 'cost_usd'])
    .where('id', '=', turnId)
    .executeTakeFirst();
  return {
    inputTokens: row?.input_tokens ?? 0,
    outputTokens: row?.output_tokens ?? 0,
    costUsd: row?.cost_usd ?? 0,
  };
}

function rest(usage: TurnUsage, counted: Counted): Counted {
  return {
    inputTokens: Math.max(0, usage.inputTokens - counted.inputTokens),
    outputTokens: Math.max(0, usage.outputTokens - counted.outputTokens),
    costUsd: usage.costUsd === null ? null : Math.max(0, usage.costUsd - (counted.costUsd ?? 0)),
  };
}

/** The session of the turn, or null when it is not running. */
async function finishTurn(
  sql: Sql,
  lease: Lease,
  { turnId, outcome, reason, usage }: TurnCommit,
  now: number,
): Promise<number | null> {
  const row = await sql
    .updateTable('turn')
    .set({
      state: outcome,
      reason: reason ?? null,
      model: usage?.model ?? null,
      input_tokens: usage?.inputTokens ?? null,
      output_tokens: usage?.outputTokens ?? null,
      cost_usd: usage?.costUsd ?? null,
      finished_at: now,
    })
    .where('id', '=', turnId)
    .where('conversation_id', '=', lease.conversationId)
    .where('state', '=', RUNNING)
    .returning('session')
    .executeTakeFirst();
  return row?.session ?? null;
}

async function insertEntries(
  sql: Sql,
  lease: Lease,
  { turnId, entries }: TurnCommit,
  session: number,
  now: number,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ role, content }) => ({
    conversation_id: lease.conversationId,
    session,
    turn_id: turnId,
    role,
    content: toJson(content),
    created_at: now,
  }));
  await sql.insertInto('transcript').values(rows).execute();
}
