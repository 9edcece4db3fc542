import type { NewId } from '@parley/contracts';
import type { Database, Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { CommitResult, Lease, TurnCommit, TurnUsage } from '../rows.ts';
import { RUNNING } from './literals.ts';
import { insertParts } from './new-parts.ts';
import { forgetOverheard } from './overheard-repository.ts';
import { recordDeadTurn } from './record-dead-letter.ts';
import { addSpend } from './spend-repository.ts';
import { storeStep } from './turn-repository.ts';

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
  const turn = await lockTurn(database, sql, lease, commit.turnId);
  if (turn === null || !(await finishTurn(sql, lease, commit, now))) return 'fenced';
  await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: commit.outcome })
    .where('turn_id', '=', commit.turnId)
    .execute();
  if (commit.heardNothing !== true) forgetOverheard(sql, commit.turnId);
  if (commit.step !== undefined) await storeStep(sql, commit.turnId, commit.step, now);
  const { account, usage } = commit;
  if (account !== undefined && usage !== null) addSpend(sql, account, rest(usage, turn));
  await insertEntries(sql, lease, commit, turn.session, now);
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

/**
 * Reads a running turn, its session and what its steps have put on somebody's account already, and keeps
 * other writers of its lane waiting. Null when the lease is lost, or the turn is over: then this is the
 * same commit again, or the turn of another lane.
 */
async function lockTurn(database: Database, sql: Sql, lease: Lease, turnId: string) {
  const query = sql
    .selectFrom('conversation')
    .innerJoin('turn', 'turn.conversation_id', 'conversation.id')
    .select([
      'conversation.epoch',
      'turn.session',
      'turn.input_tokens',
      'turn.output_tokens',
      'turn.cost_usd',
    ])
    .where('conversation.id', '=', lease.conversationId)
    .where('turn.id', '=', turnId)
    .where('turn.state', '=', RUNNING);
  const locking = database.dialect === 'postgres' ? query.forNoKeyUpdate('conversation') : query;
  const row = await locking.executeTakeFirst();
  if (row?.epoch !== lease.epoch) return null;
  return {
    session: row.session,
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    costUsd: row.cost_usd ?? 0,
  };
}

type Counted = Pick<TurnUsage, 'inputTokens' | 'outputTokens' | 'costUsd'>;

function rest(usage: TurnUsage, counted: Counted): Counted {
  return {
    inputTokens: Math.max(0, usage.inputTokens - counted.inputTokens),
    outputTokens: Math.max(0, usage.outputTokens - counted.outputTokens),
    costUsd: usage.costUsd === null ? null : Math.max(0, usage.costUsd - (counted.costUsd ?? 0)),
  };
}

/** False when the turn is not running any more. */
async function finishTurn(
  sql: Sql,
  lease: Lease,
  { turnId, outcome, reason, usage }: TurnCommit,
  now: number,
): Promise<boolean> {
  const done = await sql
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
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
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
