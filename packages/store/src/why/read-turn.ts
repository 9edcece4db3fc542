import { StepFacts } from '@parley/contracts/step-facts';
import type { Sql } from '../database.ts';
import { fromJson } from '../json-column.ts';
import { readApprovalRow } from '../repositories/approval-row.ts';
import { readRuns } from '../repositories/turn-runs.ts';
import type { PromptFacts, TimedStep, TurnFacts } from './message-facts.ts';

/** Reads what the rows tell of a turn; null when there is none. */
export async function readTurn(sql: Sql, turnId: string): Promise<TurnFacts | null> {
  const row = await sql
    .selectFrom('turn')
    .innerJoin('conversation', 'conversation.id', 'turn.conversation_id')
    .select(['turn.state', 'reason', 'attempts', 'awaits', 'started_at', 'finished_at', 'runs'])
    .select('lease_owner')
    .where('turn.id', '=', turnId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const approvals = await sql
    .selectFrom('approval')
    .selectAll()
    .where('turn_id', '=', turnId)
    .orderBy('seq')
    .execute();
  return {
    turnId,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    isSuspended: row.awaits !== null,
    worker: row.lease_owner,
    runs: readRuns(row.runs),
    prompt: await promptOf(sql, turnId),
    steps: await stepsOf(sql, turnId),
    approvals: approvals.map(readApprovalRow),
  };
}

async function promptOf(sql: Sql, turnId: string): Promise<PromptFacts | null> {
  const row = await sql
    .selectFrom('turn_prompt')
    .select(['created_at', 'layout', 'characters', 'tokens', 'parts'])
    .where('turn_id', '=', turnId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { created_at: at, layout, characters, tokens } = row;
  const parts = fromJson(row.parts);
  return { at, layout, layers: Array.isArray(parts) ? parts.length : 0, characters, tokens };
}

/** Steps of an older version tell nothing of themselves. */
async function stepsOf(sql: Sql, turnId: string): Promise<readonly TimedStep[]> {
  const rows = await sql
    .selectFrom('turn_step')
    .select(['created_at', 'started_at', 'facts'])
    .where('turn_id', '=', turnId)
    .orderBy('step_index')
    .execute();
  return rows.flatMap(({ created_at: endedAt, started_at: startedAt, facts }) => {
    const parsed = facts === null ? null : StepFacts.safeParse(fromJson(facts));
    return parsed?.success ? [{ startedAt, endedAt, facts: parsed.data }] : [];
  });
}
