import { z } from 'zod';
import { lockConversation } from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { recordDeadTurn } from './dead-letters.ts';
import { deleteGroupContext } from './group-context.ts';

/**
 * One run of a turn: when it started, in ms, and on which worker. `hung`: the process hung while it
 * ran this turn, and was terminated because of that.
 */
export const TurnRun = z.object({
  at: z.number(),
  worker: z.string().nullable(),
  hung: z.literal(true).optional(),
});

export type TurnRun = z.infer<typeof TurnRun>;

const TurnRuns = z.array(TurnRun);

/**
 * The number of runs kept per turn; the last ones are enough for a turn that is suspended
 * repeatedly.
 */
const KEPT_RUNS = 20;

/** Returns the value of the `runs` column with one more run. */
export function appendRun(before: string | null, run: TurnRun): string {
  return encodeJson([...readRuns(before), run].slice(-KEPT_RUNS));
}

/** Reads a turn's recorded runs; empty if there are none. */
export function readRuns(runs: string | null): readonly TurnRun[] {
  if (runs === null) return [];
  const parsed = TurnRuns.safeParse(JSON.parse(runs));
  return parsed.success ? parsed.data : [];
}

/** Counts how often a turn has hung its process, according to the `runs` column. */
export function countHangs(runs: string | null): number {
  return readRuns(runs).filter(({ hung }) => hung === true).length;
}

const RUNS_OF = defineStatement(`
  select conversation_id as "conversationId" from turn where id = :turnId`).rows<{
  readonly conversationId: string;
}>();

const LOCKED_RUNS = defineStatement(`
  select runs from turn where id = :turnId and state = 'running'`).rows<{
  readonly runs: string | null;
}>();

const SET_RUNS = defineStatement('update turn set runs = :runs where id = :turnId');

/**
 * Marks an unfinished turn's last run as hung. Does not change anything if it is called again after
 * an interrupted start.
 */
export async function markRunHung(sql: Sql, turnId: string): Promise<void> {
  const of = await sql.get(RUNS_OF, { turnId });
  if (of === undefined) return;
  await lockConversation(sql, of.conversationId);
  const runs = readRuns((await sql.get(LOCKED_RUNS, { turnId }))?.runs ?? null);
  const last = runs.at(-1);
  if (last === undefined) return;
  sql.send(SET_RUNS, { turnId, runs: encodeJson([...runs.slice(0, -1), { ...last, hung: true }]) });
}

/**
 * Closes a turn that crashed every process that tried to give it up; its messages get neither an
 * answer nor a notice. Does not read the message text, because it may be what crashes the process.
 * The caller has locked the lane.
 */
export function dropTurn(
  sql: Sql,
  { turnId, conversationId }: { readonly turnId: string; readonly conversationId: string },
  reason: string,
  now: number,
): void {
  sql.send(DROP, { turnId, reason, now });
  sql.send(DONE, { turnId });
  deleteGroupContext(sql, turnId);
  recordDeadTurn(sql, conversationId, turnId, now);
}

const DONE = defineStatement(
  "update inbox set state = 'done', outcome = 'failed' where turn_id = :turnId",
);

const DROP = defineStatement(`
  update turn set state = 'failed', reason = :reason, finished_at = :now
  where id = :turnId and state = 'running'`);
