import type { Generated, Selectable } from 'kysely';
import { z } from 'zod';
import type { Sql } from './database.ts';
import { fromCheckedJson } from './json-column.ts';
import { IN_USE } from './literals.ts';
import { statement } from './statement.ts';

/** Who wrote a version: what stood in SOUL.md at first, the agent, or a person. */
export type SoulAuthor = 'seed' | 'agent' | 'person';

/**
 * `proposed`: not judged yet; `refused` or `passed` by the evaluation; `applied`: in use, one at a time;
 * `replaced`: another is in use in its place, or came before it could be.
 */
export type SoulState = 'proposed' | 'refused' | 'passed' | 'applied' | 'vetoed' | 'replaced';

/** What the evaluation has to say of a text, in words for people. */
export interface SoulFinding {
  readonly rule: string;
  /** What it takes off the score. */
  readonly points: number;
  /** Whatever the score: a text with such a finding does not pass. */
  readonly blocks: boolean;
  readonly words: string;
}

/** One version of an agent’s SOUL.md, or a proposal for one (W06). Times in ms. */
export interface SoulVersion {
  readonly agent: string;
  /** 0 is the seed. */
  readonly number: number;
  /** Without front matter. */
  readonly text: string;
  /** The front matter that the file had, with the lines that open and close it; empty: none. */
  readonly head: string;
  readonly author: SoulAuthor;
  /** `telegram:42`, or what else is known of who it was. */
  readonly by: string | null;
  readonly reason: string;
  /** The version that it was written against; null of the seed. */
  readonly basedOn: number | null;
  /** Line by line against that version. */
  readonly diff: string;
  /** From 0 to 100; null until it was judged. */
  readonly score: number | null;
  readonly findings: readonly SoulFinding[];
  readonly state: SoulState;
  readonly createdAt: number;
  readonly judgedAt: number | null;
  /** When it comes into use by itself; null: when somebody says so. */
  readonly appliesAt: number | null;
  /** Null: it has never been in use. */
  readonly appliedAt: number | null;
  /** Who applied or vetoed it; null where time did. */
  readonly decidedBy: string | null;
}

/** A text that somebody would like to be SOUL.md. */
export interface NewSoul
  extends Pick<SoulVersion, 'text' | 'head' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  /** The call, command or edit that proposes it: the same again finds the version that it made. */
  readonly askedBy: string;
  readonly author: 'agent' | 'person';
}

/** What came of a proposal. `full`: too many of the agent’s own are open. */
export type SoulProposal =
  | { readonly kind: 'proposed' | 'known'; readonly version: SoulVersion }
  | { readonly kind: 'full' };

/** What the evaluation came to. */
export interface SoulVerdict extends Pick<SoulVersion, 'findings' | 'appliesAt'> {
  readonly state: 'passed' | 'refused';
  readonly score: number;
}

/** What a look every few seconds reads. */
export interface SoulGlance {
  /** Number of the version in use; null before the seed. */
  readonly inUse: number | null;
  readonly isBusy: boolean;
}

/** Going back to an earlier version: its text becomes a new one. */
export interface SoulRollback
  extends Pick<NewSoul, 'askedBy' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  readonly to: number;
}

/** One row an agent: whoever changes its versions locks it first. */
export interface SoulTable {
  agent: string;
  next_number: number;
}

/** Versions of SOUL.md; `findings` is JSON, `untold` 1 or 0. */
export interface SoulVersionTable {
  agent: string;
  number: number;
  asked_by: string;
  text: string;
  head: string;
  author: SoulAuthor;
  by_whom: string | null;
  reason: string;
  based_on: number | null;
  diff: string;
  score: Generated<number | null>;
  findings: Generated<string>;
  state: SoulState;
  untold: Generated<number>;
  created_at: number;
  judged_at: Generated<number | null>;
  applies_at: Generated<number | null>;
  applied_at: Generated<number | null>;
  decided_by: Generated<string | null>;
}

/** Which version is changed, and when. */
export interface SoulMoment {
  readonly agent: string;
  readonly number: number;
  readonly now: number;
}

/** Makes all others who change the versions of this agent wait; how many versions it has. */
export async function lockSoul(sql: Sql, agent: string): Promise<number> {
  await sql
    .insertInto('soul')
    .values({ agent, next_number: 0 })
    .onConflict((conflict) => conflict.column('agent').doNothing())
    .execute();
  const row = await sql
    .updateTable('soul')
    .set(({ ref }) => ({ next_number: ref('next_number') }))
    .where('agent', '=', agent)
    .returning('next_number')
    .executeTakeFirstOrThrow();
  return row.next_number;
}

/** Puts a version into use, and what was in use out of it. */
export async function useVersion(
  sql: Sql,
  { agent, number, now }: SoulMoment,
  { by, untold }: { readonly by: string | null; readonly untold: 0 | 1 },
): Promise<void> {
  await sql
    .updateTable('soul_version')
    .set({ state: 'replaced', untold: 0 })
    .where('agent', '=', agent)
    .where('state', '=', IN_USE)
    .execute();
  await sql
    .updateTable('soul_version')
    .set({ state: 'applied', applied_at: now, applies_at: null, decided_by: by, untold })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .execute();
}

/** The version in use; null before the seed. */
export async function appliedOf(sql: Sql, agent: string): Promise<SoulVersion | null> {
  const row = await sql.get(APPLIED, { agent });
  return row === undefined ? null : readSoulVersion(row);
}

const APPLIED = statement(
  "select * from soul_version where agent = :agent and state = 'applied'",
).rows<Selectable<SoulVersionTable>>();

/** One version; null when there is none of that number. */
export async function versionOf(
  sql: Sql,
  agent: string,
  number: number,
): Promise<SoulVersion | null> {
  const row = await sql
    .selectFrom('soul_version')
    .selectAll()
    .where('agent', '=', agent)
    .where('number', '=', number)
    .executeTakeFirst();
  return row === undefined ? null : readSoulVersion(row);
}

/** The version that this call, command or edit has made. */
export async function versionAskedBy(
  sql: Sql,
  agent: string,
  askedBy: string,
): Promise<SoulVersion | null> {
  const row = await sql
    .selectFrom('soul_version')
    .selectAll()
    .where('agent', '=', agent)
    .where('asked_by', '=', askedBy)
    .executeTakeFirst();
  return row === undefined ? null : readSoulVersion(row);
}

const Findings = z.array(
  z.object({ rule: z.string(), points: z.number(), blocks: z.boolean(), words: z.string() }),
);

/** A stored version as the other packages know it. Throws StoreError `store-damaged`. */
export function readSoulVersion(row: Selectable<SoulVersionTable>): SoulVersion {
  return {
    agent: row.agent,
    number: row.number,
    text: row.text,
    head: row.head,
    author: row.author,
    by: row.by_whom,
    reason: row.reason,
    basedOn: row.based_on,
    diff: row.diff,
    score: row.score,
    findings: fromCheckedJson(Findings, row.findings, `findings of version ${row.number}`),
    state: row.state,
    createdAt: row.created_at,
    judgedAt: row.judged_at,
    appliesAt: row.applies_at,
    appliedAt: row.applied_at,
    decidedBy: row.decided_by,
  };
}
