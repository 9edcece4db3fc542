import type { NewId, OutboundPart, ToolCallOfTurn } from '@parley/core';
import { holdsLease, lockLeasedConversation } from './conversations.ts';
import {
  type Database,
  defineStatement,
  encodeJson,
  type Sql,
  selectJsonItem,
} from './database.ts';
import { recordDeadTurn } from './dead-letters.ts';
import { deleteGroupContext } from './group-context.ts';
import { insertParts } from './outbox-parts.ts';
import type { CommitResult, JournalStep, Lease, TranscriptEntry, TurnCommit } from './rows.ts';
import type { TurnUsage } from './spend.ts';
import { addSpend } from './spend.ts';
import { markRunHung } from './turn-runs.ts';

/** What `parley status` reports about recent turns. */
interface TurnTotals {
  readonly answered: number;
  readonly failed: number;
  readonly stopped: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** The number of turns that used a model without a known price. */
  readonly unpriced: number;
}

/**
 * The turn journal (G16), stored in the `turn_step` table: a turn appends its finished steps, and
 * reads them when it resumes.
 */
export type TurnRepository = ReturnType<typeof createTurnRepository>;

export function createTurnRepository(database: Database, newId: NewId) {
  return {
    /** Appends one step to the journal, fenced like a commit. */
    appendStep: (
      lease: Lease,
      turnId: string,
      step: JournalStep,
      now: number,
    ): Promise<CommitResult> =>
      database.write(async (sql) => {
        if ((await lockLeasedConversation(sql, lease)) === null) return 'fenced';
        if (!(await isUnfinishedTurn(sql, lease, turnId))) return 'fenced';
        await storeStep(sql, turnId, step, now);
        return 'committed';
      }),

    /**
     * Counts the usage of a model call that a stop interrupted; its turn has ended, so no step can
     * record the usage.
     */
    countCutOff: (turnId: string, spends: StepSpend): Promise<void> =>
      database.write(async (sql) => {
        sql.send(COUNT_CUT_OFF, toSpendUsage(turnId, spends));
        addSpend(sql, spends.account, spends.usage);
      }, 'process'),

    /**
     * Stores the visible part of a stopped turn's answer once, in the history and as outbox parts
     * for the chat. Returns null if the turn was not stopped by a person, if its answer was already
     * stored or has since been forgotten, or if its session has ended.
     */
    savePartialAnswer: (
      { conversationId, turnId, entries, parts }: StoppedAnswer,
      now: number,
    ): Promise<readonly OutboundPart[] | null> =>
      database.write(async (sql) => {
        const lane = await sql.get(LOCK_SESSION, { conversationId });
        const kept = {
          turnId,
          session: lane?.session ?? -1,
          before: BY_STOP,
          now: KEPT_AFTER_STOP,
        };
        if (lane === undefined || (await sql.run(KEEP_STOPPED, kept)) === 0) return null;
        appendHistory(sql, entries, { conversationId, session: lane.session, turnId, now });
        return insertParts(sql, parts, { turnId, now, newId });
      }),

    /** Records that a process hung in this turn's last run and was terminated for that reason. */
    countHang: (turnId: string): Promise<void> => database.write((sql) => markRunHung(sql, turnId)),

    /** Lists the tools that these turns have called, for display. */
    async calls(turnIds: readonly string[]): Promise<readonly ToolCallOfTurn[]> {
      const { readToolCalls } = await import('./conversation-views/tool-calls.ts');
      return database.read((sql) => readToolCalls(sql, turnIds));
    },

    /** Sums up turns that finished at or after `since` (ms). */
    totals: async (since: number): Promise<TurnTotals> => {
      const rows = await database.read((sql) => sql.all(TOTALS, { since }));
      const count = (state: string) => rows.find((row) => row.state === state)?.count ?? 0;
      const sum = (column: 'input' | 'output' | 'cost' | 'unpriced') =>
        rows.reduce((total, row) => total + (row[column] ?? 0), 0);
      return {
        answered: count('answered'),
        failed: count('failed'),
        stopped: count('stopped'),
        inputTokens: sum('input'),
        outputTokens: sum('output'),
        costUsd: sum('cost'),
        unpriced: sum('unpriced'),
      };
    },
  };
}

/** The part of an answer that was visible when a person stopped it. */
type StoppedAnswer = Pick<TurnCommit, 'turnId' | 'entries' | 'parts'> & {
  readonly conversationId: string;
};

/**
 * The `reason` of a turn that a person stopped, until its partial answer is stored. Forgetting
 * removes this reason.
 */
export const BY_STOP = 'by /stop';
const KEPT_AFTER_STOP = 'by /stop; what it had said is kept';

const LOCK_SESSION = defineStatement(`
  select session from conversation where id = :conversationId /*pg for no key update*/`).rows<{
  readonly session: number;
}>();

const KEEP_STOPPED = defineStatement(`
  update turn set reason = :now
  where id = :turnId and state = 'stopped' and session = :session and reason = :before`);

const TOTALS = defineStatement(`
  select state, count(*) as count, sum(input_tokens) as input, sum(output_tokens) as output,
    sum(cost_usd) as cost,
    sum(case when model is not null and cost_usd is null then 1 else 0 end) as unpriced
  from turn where finished_at >= :since and written_by is null group by state`).rows<{
  readonly state: string;
  readonly count: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly cost: number | null;
  readonly unpriced: number | null;
}>();

// The state is a literal, because a partial index is used only if the query contains the index
// condition.
const UNFINISHED = defineStatement(
  "select id from turn where conversation_id = :conversationId and state = 'running'",
).rows<{ readonly id: string }>();

// A step that is repeated because the first call's result was lost is stored only once.
const APPEND = defineStatement(`
  insert into turn_step (turn_id, step_index, content, created_at, started_at, facts)
  values (:turnId, :index, :content, :now, :startedAt, :facts)
  on conflict (turn_id, step_index) do nothing`);

const COUNT = `
  update turn set model = :model, input_tokens = coalesce(input_tokens, 0) + :input,
    output_tokens = coalesce(output_tokens, 0) + :output,
    cached_tokens = coalesce(cached_tokens, 0) + :cached,
    cost_usd = case when :isPriced = 1 then coalesce(cost_usd, 0) + :cost else cost_usd end
  where id = :turnId`;

const COUNT_USAGE = defineStatement(COUNT);

// Excludes a running turn, whose commit would treat this usage as already charged by its steps.
const COUNT_CUT_OFF = defineStatement(`${COUNT} and state <> 'running'`);

const SETTLE = defineStatement(`
  update approval set result = :result
  where turn_id = :turnId and call_key = :callKey and state in ('approved', 'auto')`);

/** Whether this is its lane's unfinished turn; the caller has locked the lane. */
export async function isUnfinishedTurn(
  sql: Sql,
  { conversationId }: Lease,
  turnId: string,
): Promise<boolean> {
  return (await sql.get(UNFINISHED, { conversationId }))?.id === turnId;
}

/** Stores a step in a turn's journal, with its usage and the approval that it settles. */
export async function storeStep(
  sql: Sql,
  turnId: string,
  { index, content, timing, spends, settles }: JournalStep,
  now: number,
): Promise<void> {
  const facts = timing === undefined ? null : encodeJson(timing.facts);
  const step = { index, content: encodeJson(content), startedAt: timing?.startedAt ?? null, facts };
  const isNew = (await sql.run(APPEND, { turnId, ...step, now })) > 0;
  if (isNew && spends !== undefined) chargeSpend(sql, turnId, spends);
  // The result of an approved call is recorded for the audit log (G05); most calls do not need an
  // approval.
  if (settles !== undefined) {
    const { callKey, failed } = settles;
    sql.send(SETTLE, { turnId, callKey, result: failed ? 'failed' : 'done' });
  }
}

/** The turn records the usage that its steps have charged; its commit charges the rest. */
function chargeSpend(sql: Sql, turnId: string, spends: StepSpend): void {
  addSpend(sql, spends.account, spends.usage);
  sql.send(COUNT_USAGE, toSpendUsage(turnId, spends));
}

type StepSpend = NonNullable<JournalStep['spends']>;

function toSpendUsage(turnId: string, { usage }: StepSpend) {
  const { model, inputTokens: input, outputTokens: output, costUsd } = usage;
  const cost = { isPriced: costUsd === null ? 0 : 1, cost: costUsd ?? 0 };
  const cached = usage.cachedInputTokens ?? 0;
  return { turnId, model, input, output, cached, ...cost };
}

/** The database ensures that at most one turn per conversation is `running`. */
export type TurnState = 'running' | 'stopped' | 'interrupted' | TurnCommit['outcome'];

interface TurnCommitRequest {
  readonly lease: Lease;
  readonly commit: TurnCommit;
  readonly now: number;
  readonly newId: NewId;
}

/**
 * Ends a turn: stores its row, messages, history and parts, and returns the parts. Returns null
 * without writing anything if the turn was fenced.
 */
export async function commitTurn(
  sql: Sql,
  { lease, commit, now, newId }: TurnCommitRequest,
): Promise<readonly OutboundPart[] | null> {
  const turn = await lockRunningTurn(sql, lease, commit.turnId);
  if (turn === null || !(await finishTurn(sql, lease, commit, now))) return null;
  const { turnId, outcome } = commit;
  sql.send(DONE, { turnId, outcome });
  if (commit.hadNoGroupContext !== true) deleteGroupContext(sql, commit.turnId);
  if (commit.step !== undefined) await storeStep(sql, commit.turnId, commit.step, now);
  const { account, usage } = commit;
  if (account !== undefined && usage !== null)
    addSpend(sql, account, computeUnchargedUsage(usage, turn));
  const { conversationId } = lease;
  appendHistory(sql, commit.entries, { conversationId, session: turn.session, turnId, now });
  if (commit.isPlan === true) sql.send(PLAN, { conversationId, turnId });
  if (commit.outcome === 'failed') {
    recordDeadTurn(sql, lease.conversationId, commit.turnId, now);
  }
  return insertParts(sql, commit.parts, { turnId, now, newId, trace: commit.trace });
}

/**
 * Reads a running turn with its session and the usage charged by its steps, and locks its lane
 * against other writers. Returns null if the lease is lost, if the turn has ended (for example
 * because a commit is repeated), or if the turn belongs to another lane.
 */
async function lockRunningTurn(sql: Sql, lease: Lease, turnId: string) {
  const { conversationId } = lease;
  const turn = await sql.get(LOCK_TURN, { conversationId, turnId });
  return turn !== undefined && holdsLease(lease, turn.epoch) ? turn : null;
}

const LOCK_TURN = defineStatement(`
  select conversation.epoch, turn.session, coalesce(input_tokens, 0) as "inputTokens",
    coalesce(output_tokens, 0) as "outputTokens", coalesce(cached_tokens, 0) as "cachedInputTokens",
    coalesce(cost_usd, 0) as "costUsd"
  from conversation join turn on turn.conversation_id = conversation.id
  where conversation.id = :conversationId and turn.id = :turnId and turn.state = 'running'
  /*pg for no key update of conversation*/`).rows<
  ChargedUsage & { readonly epoch: number; readonly session: number }
>();

const FINISH = defineStatement(`
  update turn set state = :outcome, reason = :reason, model = :model, input_tokens = :input,
    output_tokens = :output, cached_tokens = :cached, cost_usd = :cost, finished_at = :now
  where id = :turnId and conversation_id = :conversationId and state = 'running'`);

const DONE = defineStatement(
  "update inbox set state = 'done', outcome = :outcome where turn_id = :turnId",
);

// Inserts all entries in one statement, numbered in list order; there are usually two, a question
// and its answer.
const REMEMBER =
  'insert into transcript (conversation_id, session, turn_id, role, content, created_at)';

const REMEMBER_TWO = defineStatement(`${REMEMBER}
  values (:conversationId, :session, :turnId, :firstRole, :first, :now),
    (:conversationId, :session, :turnId, :secondRole, :second, :now)`);

const REMEMBER_ALL = defineStatement(`${REMEMBER}
  select :conversationId, cast(:session as integer), :turnId,
    ${selectJsonItem(0)}, ${selectJsonItem(1)}, cast(:now as bigint)
  from json_each(:entries)`);

const PLAN = defineStatement(
  'update conversation set plan = :turnId, plan_run = 0 where id = :conversationId',
);

/** Appends entries to a conversation's history. */
export function appendHistory(
  sql: Sql,
  entries: readonly TranscriptEntry[],
  of: { conversationId: string; session: number; turnId: string; now: number },
): void {
  const [first, second] = entries;
  if (first === undefined) return;
  if (second !== undefined && entries.length === 2) {
    const firstEntry = { firstRole: first.role, first: encodeJson(first.content) };
    const secondEntry = { secondRole: second.role, second: encodeJson(second.content) };
    sql.send(REMEMBER_TWO, { ...of, ...firstEntry, ...secondEntry });
    return;
  }
  const all = encodeJson(entries.map(({ role, content }) => [role, encodeJson(content)]));
  sql.send(REMEMBER_ALL, { ...of, entries: all });
}

type ChargedUsage = Pick<
  TurnUsage,
  'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'costUsd'
>;

/**
 * Computes the usage that steps have not charged yet, usually that of the last call, using the
 * call's share of cached input.
 */
function computeUnchargedUsage({ cachedShare, ...usage }: TurnUsage, counted: ChargedUsage) {
  const cached = (usage.cachedInputTokens ?? 0) - (counted.cachedInputTokens ?? 0);
  return {
    cachedInputTokens: Math.max(0, cached),
    cachedShare,
    inputTokens: Math.max(0, usage.inputTokens - counted.inputTokens),
    outputTokens: Math.max(0, usage.outputTokens - counted.outputTokens),
    costUsd: usage.costUsd === null ? null : Math.max(0, usage.costUsd - (counted.costUsd ?? 0)),
  };
}

/** Returns false if the turn is no longer running. */
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
    cached: usage?.cachedInputTokens ?? null,
    cost: usage?.costUsd ?? null,
  };
  const turn = { turnId, conversationId: lease.conversationId };
  return (await sql.run(FINISH, { ...turn, outcome, reason: reason ?? null, ...used, now })) > 0;
}
