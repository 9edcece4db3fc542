import { z } from 'zod';
import { decodeCheckedJson, defineStatement, type Sql } from './database.ts';

/** The author of a version: the initial SOUL.md, the agent, or a person. */
export type SoulAuthor = 'seed' | 'agent' | 'person';

/**
 * `proposed`: the version has not been evaluated yet. `refused` or `passed`: the result of the
 * evaluation. `applied`: the version is in use, and it is the only one. `replaced`: another version
 * took its place, or was applied before it.
 */
export type SoulState = 'proposed' | 'refused' | 'passed' | 'applied' | 'vetoed' | 'replaced';

/** A finding of the evaluation, shown to people. */
export interface SoulFinding {
  readonly rule: string;
  /** The points deducted from the score. */
  readonly points: number;
  /** Whether text with this finding fails regardless of its score. */
  readonly blocks: boolean;
  readonly text: string;
}

/** One version of an agent's SOUL.md, or a proposed version (W06); times are in ms. */
export interface SoulVersion {
  readonly agent: string;
  /** The version number; 0 is the seed. */
  readonly number: number;
  /** The text, excluding the front matter. */
  readonly text: string;
  /** The file's front matter with its delimiter lines; empty if there is none. */
  readonly head: string;
  readonly author: SoulAuthor;
  /** The author's id, such as `telegram:42`, or another description of the author. */
  readonly by: string | null;
  readonly reason: string;
  /** The version that this one was written against; null for the seed. */
  readonly basedOn: number | null;
  /** The line-by-line difference from the version that it was written against. */
  readonly diff: string;
  /** The score from 0 to 100; null until the version has been evaluated. */
  readonly score: number | null;
  readonly findings: readonly SoulFinding[];
  readonly state: SoulState;
  readonly createdAt: number;
  readonly judgedAt: number | null;
  /** When the version is applied automatically; null if a person has to apply it. */
  readonly appliesAt: number | null;
  /** Null if the version was never in use. */
  readonly appliedAt: number | null;
  /** The person who applied or vetoed the version; null if it was applied automatically. */
  readonly decidedBy: string | null;
}

export interface NewSoulVersion
  extends Pick<SoulVersion, 'text' | 'head' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  /**
   * The call, command or edit that proposes the version; a repeated proposal finds the same
   * version.
   */
  readonly askedBy: string;
  readonly author: 'agent' | 'person';
}

/** The outcome of a proposal. `full`: the agent has too many open proposals. */
export type SoulProposal =
  | { readonly kind: 'proposed' | 'known'; readonly version: SoulVersion }
  | { readonly kind: 'full' };

export interface SoulVerdict extends Pick<SoulVersion, 'findings' | 'appliesAt'> {
  readonly state: 'passed' | 'refused';
  readonly score: number;
}

/** The state of an agent's SOUL.md, polled every few seconds. */
export interface SoulStatus {
  /** The number of the version in use; null before the seed is stored. */
  readonly inUse: number | null;
  readonly isBusy: boolean;
}

/** A return to an earlier version, whose text becomes a new version. */
export interface SoulRollback
  extends Pick<NewSoulVersion, 'askedBy' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  readonly to: number;
}

/** A stored version; `findings` is JSON. */
export interface SoulVersionRow extends Omit<SoulVersion, 'findings'> {
  readonly findings: string;
}

export const SOUL_COLUMNS = `agent, number, text, head, author, proposed_by as "by", reason,
  based_on as "basedOn", diff, score, findings, state, created_at as "createdAt",
  judged_at as "judgedAt", applies_at as "appliesAt", applied_at as "appliedAt",
  decided_by as "decidedBy"`;

export interface SoulChange {
  readonly agent: string;
  readonly number: number;
  readonly now: number;
}

/** Locks this agent's versions against other writers and returns how many there are. */
export async function lockSoul(sql: Sql, agent: string): Promise<number> {
  sql.send(ADD_SOUL, { agent });
  return (await sql.get(LOCK, { agent }))?.next ?? 0;
}

const ADD_SOUL = defineStatement(
  'insert into soul (agent, next_number) values (:agent, 0) on conflict (agent) do nothing',
);

const LOCK = defineStatement(`
  update soul set next_number = next_number where agent = :agent returning next_number as next`).rows<{
  readonly next: number;
}>();

/** Applies a version and marks the previous one as replaced. */
export function applyVersion(
  sql: Sql,
  change: SoulChange,
  decision: { readonly by: string | null; readonly unnotified: 0 | 1 },
): void {
  sql.send(REPLACE_APPLIED, change);
  sql.send(USE, { ...change, ...decision });
}

const REPLACE_APPLIED = defineStatement(`
  update soul_version set state = 'replaced', unnotified = 0 where agent = :agent and state = 'applied'`);

const USE = defineStatement(`
  update soul_version set state = 'applied', applied_at = :now, applies_at = null, decided_by = :by,
    unnotified = :unnotified
  where agent = :agent and number = :number`);

/** Builds a statement that selects an agent's complete versions. */
export function selectVersions<const Rest extends string>(rest: Rest) {
  return defineStatement(
    `select ${SOUL_COLUMNS} from soul_version where agent = :agent and ${rest}`,
  ).rows<SoulVersionRow>();
}

const APPLIED = selectVersions("state = 'applied'");
const BY_NUMBER = selectVersions('number = :number');
const ASKED_BY = selectVersions('request_key = :askedBy');

/** Reads the version in use; null before the seed is stored. */
export const appliedVersion = (sql: Sql, agent: string) =>
  readVersionOrNull(sql.get(APPLIED, { agent }));

/** Reads one version; null if the number does not exist. */
export const versionOf = (sql: Sql, agent: string, number: number) =>
  readVersionOrNull(sql.get(BY_NUMBER, { agent, number }));

/** Finds the version that a call, command or edit has created. */
export const versionByRequest = (sql: Sql, agent: string, askedBy: string) =>
  readVersionOrNull(sql.get(ASKED_BY, { agent, askedBy }));

async function readVersionOrNull(
  row: Promise<SoulVersionRow | undefined>,
): Promise<SoulVersion | null> {
  const version = await row;
  return version === undefined ? null : readSoulVersion(version);
}

const Findings = z.array(
  z.object({ rule: z.string(), points: z.number(), blocks: z.boolean(), text: z.string() }),
);

/**
 * Converts a stored version to the type used outside the store; throws StoreError `store-damaged`.
 */
export function readSoulVersion(row: SoulVersionRow): SoulVersion {
  const findings = decodeCheckedJson(Findings, row.findings, `findings of version ${row.number}`);
  return { ...row, findings };
}
