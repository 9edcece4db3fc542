import { z } from 'zod';
import { fromCheckedJson, type Sql, statement } from './database.ts';

/** The origin of a version: the first SOUL.md, the agent, or a person. */
export type SoulAuthor = 'seed' | 'agent' | 'person';

/**
 * `proposed`: not judged yet; `refused` or `passed` by the evaluation; `applied`: in use, one at a time;
 * `replaced`: another is in use in its place, or came before it could be.
 */
export type SoulState = 'proposed' | 'refused' | 'passed' | 'applied' | 'vetoed' | 'replaced';

/** A result of the evaluation, for people. */
export interface SoulFinding {
  readonly rule: string;
  /** The points that it takes off the score. */
  readonly points: number;
  /** Whatever the score: a text with such a finding does not pass. */
  readonly blocks: boolean;
  readonly text: string;
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
  /** When it comes into use by itself; null: when a person applies it. */
  readonly appliesAt: number | null;
  /** Null: it has never been in use. */
  readonly appliedAt: number | null;
  /** The person who applied or vetoed it; null where time did. */
  readonly decidedBy: string | null;
}

/** A proposed text of SOUL.md. */
export interface NewSoul
  extends Pick<SoulVersion, 'text' | 'head' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  /** The call, command or edit that proposes it: the same again finds the version that it made. */
  readonly askedBy: string;
  readonly author: 'agent' | 'person';
}

/** The outcome of a proposal. `full`: too many of the agent’s own are open. */
export type SoulProposal =
  | { readonly kind: 'proposed' | 'known'; readonly version: SoulVersion }
  | { readonly kind: 'full' };

/** The verdict of the evaluation. */
export interface SoulVerdict extends Pick<SoulVersion, 'findings' | 'appliesAt'> {
  readonly state: 'passed' | 'refused';
  readonly score: number;
}

/** The status that a look every few seconds reads. */
export interface SoulStatus {
  /** Number of the version in use; null before the seed. */
  readonly inUse: number | null;
  readonly isBusy: boolean;
}

/** Going back to an earlier version: its text becomes a new one. */
export interface SoulRollback
  extends Pick<NewSoul, 'askedBy' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  readonly to: number;
}

/** A stored version; `findings` is JSON. */
export interface SoulVersionRow extends Omit<SoulVersion, 'findings'> {
  readonly findings: string;
}

/** The columns that make a `SoulVersionRow`. */
export const SOUL_COLUMNS = `agent, number, text, head, author, proposed_by as "by", reason,
  based_on as "basedOn", diff, score, findings, state, created_at as "createdAt",
  judged_at as "judgedAt", applies_at as "appliesAt", applied_at as "appliedAt",
  decided_by as "decidedBy"`;

/** Which version is changed, and when. */
export interface SoulChange {
  readonly agent: string;
  readonly number: number;
  readonly now: number;
}

/** Makes all others who change the versions of this agent wait; how many versions it has. */
export async function lockSoul(sql: Sql, agent: string): Promise<number> {
  sql.send(ADD_SOUL, { agent });
  return (await sql.get(LOCK, { agent }))?.next ?? 0;
}

const ADD_SOUL = statement(
  'insert into soul (agent, next_number) values (:agent, 0) on conflict (agent) do nothing',
);

const LOCK = statement(`
  update soul set next_number = next_number where agent = :agent returning next_number as next`).rows<{
  readonly next: number;
}>();

/** Puts a version into use, and what was in use out of it. */
export function applyVersion(
  sql: Sql,
  change: SoulChange,
  decision: { readonly by: string | null; readonly unnotified: 0 | 1 },
): void {
  sql.send(REPLACE_APPLIED, change);
  sql.send(USE, { ...change, ...decision });
}

const REPLACE_APPLIED = statement(`
  update soul_version set state = 'replaced', unnotified = 0 where agent = :agent and state = 'applied'`);

const USE = statement(`
  update soul_version set state = 'applied', applied_at = :now, applies_at = null, decided_by = :by,
    unnotified = :unnotified
  where agent = :agent and number = :number`);

/** A statement for whole versions of an agent. */
export function selectVersions<const Rest extends string>(rest: Rest) {
  return statement(
    `select ${SOUL_COLUMNS} from soul_version where agent = :agent and ${rest}`,
  ).rows<SoulVersionRow>();
}

const APPLIED = selectVersions("state = 'applied'");
const BY_NUMBER = selectVersions('number = :number');
const ASKED_BY = selectVersions('request_key = :askedBy');

/** The version in use; null before the seed. */
export const appliedVersion = (sql: Sql, agent: string) =>
  readFoundVersion(sql.get(APPLIED, { agent }));

/** One version; null when there is none of that number. */
export const versionOf = (sql: Sql, agent: string, number: number) =>
  readFoundVersion(sql.get(BY_NUMBER, { agent, number }));

/** The version that this call, command or edit has made. */
export const versionByRequest = (sql: Sql, agent: string, askedBy: string) =>
  readFoundVersion(sql.get(ASKED_BY, { agent, askedBy }));

async function readFoundVersion(
  row: Promise<SoulVersionRow | undefined>,
): Promise<SoulVersion | null> {
  const version = await row;
  return version === undefined ? null : readSoulVersion(version);
}

const Findings = z.array(
  z.object({ rule: z.string(), points: z.number(), blocks: z.boolean(), text: z.string() }),
);

/** A stored version as the other packages know it. Throws StoreError `store-damaged`. */
export function readSoulVersion(row: SoulVersionRow): SoulVersion {
  const findings = fromCheckedJson(Findings, row.findings, `findings of version ${row.number}`);
  return { ...row, findings };
}
