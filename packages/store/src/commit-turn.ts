import type { NewId, OutboundPart } from '@parley/core';
import { ofListItem, type Sql, statement, toJson } from './database.ts';
import { recordDeadTurn } from './dead-letters.ts';
import { deleteGroupContext } from './group-context.ts';
import { insertParts } from './outbox-parts.ts';
import type { Lease, TranscriptEntry, TurnCommit, TurnUsage } from './rows.ts';
import { addSpend } from './spend.ts';
import { storeStep } from './turns.ts';

interface Commit {
  readonly lease: Lease;
  readonly commit: TurnCommit;
  readonly now: number;
  readonly newId: NewId;
}

/** Ends a turn: its row, its messages, its history and its parts, which it returns. Null: fenced, nothing was written. */
export async function commitTurn(
  sql: Sql,
  { lease, commit, now, newId }: Commit,
): Promise<readonly OutboundPart[] | null> {
  const turn = await lockTurn(sql, lease, commit.turnId);
  if (turn === null || !(await finishTurn(sql, lease, commit, now))) return null;
  const { turnId, outcome } = commit;
  sql.send(DONE, { turnId, outcome });
  if (commit.hadNoGroupContext !== true) deleteGroupContext(sql, commit.turnId);
  if (commit.step !== undefined) await storeStep(sql, commit.turnId, commit.step, now);
  const { account, usage } = commit;
  if (account !== undefined && usage !== null) addSpend(sql, account, rest(usage, turn));
  const { conversationId } = lease;
  remember(sql, commit.entries, { conversationId, session: turn.session, turnId, now });
  if (commit.isPlan === true) sql.send(PLAN, { conversationId, turnId });
  if (commit.outcome === 'failed') {
    recordDeadTurn(sql, lease.conversationId, commit.turnId, now);
  }
  return insertParts(sql, commit.parts, { turnId, now, newId, trace: commit.trace });
}

/**
 * Reads a running turn, its session and what its steps have charged already, and keeps
 * other writers of its lane waiting. Null when the lease is lost, or the turn is over: then this is the
 * same commit again, or the turn of another lane.
 */
async function lockTurn(sql: Sql, { conversationId, epoch }: Lease, turnId: string) {
  const turn = await sql.get(LOCK_TURN, { conversationId, turnId });
  return turn?.epoch === epoch ? turn : null;
}

const LOCK_TURN = statement(`
  select conversation.epoch, turn.session, coalesce(input_tokens, 0) as "inputTokens",
    coalesce(output_tokens, 0) as "outputTokens", coalesce(cost_usd, 0) as "costUsd"
  from conversation join turn on turn.conversation_id = conversation.id
  where conversation.id = :conversationId and turn.id = :turnId and turn.state = 'running'
  /*pg for no key update of conversation*/`).rows<
  Counted & { readonly epoch: number; readonly session: number }
>();

const FINISH = statement(`
  update turn set state = :outcome, reason = :reason, model = :model, input_tokens = :input,
    output_tokens = :output, cost_usd = :cost, finished_at = :now
  where id = :turnId and conversation_id = :conversationId and state = 'running'`);

const DONE = statement(
  "update inbox set state = 'done', outcome = :outcome where turn_id = :turnId",
);

// All entries in one statement, numbered in the order of the list; mostly a question and its answer.
const REMEMBER =
  'insert into transcript (conversation_id, session, turn_id, role, content, created_at)';

const REMEMBER_TWO = statement(`${REMEMBER}
  values (:conversationId, :session, :turnId, :firstRole, :first, :now),
    (:conversationId, :session, :turnId, :secondRole, :second, :now)`);

const REMEMBER_ALL = statement(`${REMEMBER}
  select :conversationId, cast(:session as integer), :turnId,
    ${ofListItem(0)}, ${ofListItem(1)}, cast(:now as bigint)
  from json_each(:entries)`);

const PLAN = statement(
  'update conversation set plan = :turnId, plan_run = 0 where id = :conversationId',
);

/** Puts entries at the end of the history of a conversation. */
function remember(
  sql: Sql,
  entries: readonly TranscriptEntry[],
  of: { conversationId: string; session: number; turnId: string; now: number },
): void {
  const [first, second] = entries;
  if (first === undefined) return;
  if (second !== undefined && entries.length === 2) {
    const firstEntry = { firstRole: first.role, first: toJson(first.content) };
    const secondEntry = { secondRole: second.role, second: toJson(second.content) };
    sql.send(REMEMBER_TWO, { ...of, ...firstEntry, ...secondEntry });
    return;
  }
  const all = toJson(entries.map(({ role, content }) => [role, toJson(content)]));
  sql.send(REMEMBER_ALL, { ...of, entries: all });
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
  const used = {
    model: usage?.model ?? null,
    input: usage?.inputTokens ?? null,
    output: usage?.outputTokens ?? null,
    cost: usage?.costUsd ?? null,
  };
  const turn = { turnId, conversationId: lease.conversationId };
  return (await sql.run(FINISH, { ...turn, outcome, reason: reason ?? null, ...used, now })) > 0;
}
