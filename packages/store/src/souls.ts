import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';
import {
  appliedVersion,
  applyVersion,
  lockSoul,
  type NewSoulVersion,
  readSoulVersion,
  SOUL_COLUMNS,
  type SoulAuthor,
  type SoulChange,
  type SoulProposal,
  type SoulRollback,
  type SoulState,
  type SoulStatus,
  type SoulVerdict,
  type SoulVersion,
  type SoulVersionRow,
  selectVersions,
  versionByRequest,
  versionOf,
} from './soul-versions.ts';

/**
 * The versions of SOUL.md (W06), stored in the tables `soul` and `soul_version`. The tables are
 * authoritative; the file is a copy. The evolution service writes them, and the prompt reads the
 * version in use. Every change checks the current state and sets the next one in the same
 * transaction, so that only one of two simultaneous changes succeeds.
 */
export type SoulRepository = ReturnType<typeof createSoulRepository>;

export function createSoulRepository(database: Database) {
  return {
    ...createSoulQueries(database),
    /** Creates version 0; false if the agent already has a version. */
    seed: (agent: string, soul: Pick<SoulVersion, 'text' | 'head' | 'by'>, now: number) =>
      database.write((sql) => seedSoul(sql, agent, soul, now)),
    /**
     * `most` limits the agent's open proposals; a person's oldest proposal is dropped to make room.
     */
    propose: (agent: string, soul: NewSoulVersion, most: number, now: number) =>
      database.write((sql) => proposeSoul(sql, agent, { soul, most, now })),
    /**
     * Moves a version from proposed to passed or refused; false if it was evaluated or vetoed in
     * the meantime.
     */
    judge: (agent: string, number: number, verdict: SoulVerdict, now: number) =>
      database.write(async (sql) => {
        const findings = encodeJson(verdict.findings);
        return (await sql.run(JUDGE, { ...verdict, agent, number, now, findings })) > 0;
      }),
    /**
     * Moves a version from passed to applied, and the version in use to replaced. False if the
     * version did not pass, or if `inUse` is no longer in use. `by` is null for an automatic
     * change.
     */
    apply: (agent: string, number: number, by: string | null, inUse: number | null, now: number) =>
      database.write((sql) => applySoul(sql, { agent, number, now }, by, inUse)),
    /**
     * Moves a version from proposed or passed to vetoed (by a person) or replaced (by another
     * version).
     */
    close: (
      agent: string,
      number: number,
      state: 'vetoed' | 'replaced',
      by: string | null,
      now: number,
    ) => database.write((sql) => closeSoulProposal(sql, { agent, number, now }, state, by)),
    /**
     * Adds and applies a version with the text of the earlier version `to`. Returns null if
     * `basedOn` is no longer in use, or if `to` was never in use.
     */
    rollback: (agent: string, order: SoulRollback, now: number) =>
      database.write((sql) => rollbackSoul(sql, agent, order, now)),
    /** Stores changed front matter from the file; the text stays the same. */
    keepHead: async (agent: string, number: number, head: string): Promise<void> => {
      await database.change('power-cut', KEEP_HEAD, { agent, number, head });
    },
    /** Records that the owner was notified of this state, unless it has changed in the meantime. */
    notified: async (agent: string, number: number, state: SoulState): Promise<void> => {
      await database.change('power-cut', SET_NOTIFIED, { agent, number, state });
    },
  };
}

const KEEP_HEAD = defineStatement(
  'update soul_version set head = :head where agent = :agent and number = :number',
);

const SET_NOTIFIED = defineStatement(`
  update soul_version set unnotified = 0 where agent = :agent and number = :number and state = :state`);

/** Read-only queries of the repository. */
function createSoulQueries(database: Database) {
  return {
    /** Reads the version in use; null before the seed is stored. */
    applied: (agent: string): Promise<SoulVersion | null> =>
      database.read((sql) => appliedVersion(sql, agent)),
    get: (agent: string, number: number): Promise<SoulVersion | null> =>
      database.read((sql) => versionOf(sql, agent, number)),
    /** Lists an agent's versions, newest first. */
    list: (agent: string, limit: number): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => (await sql.all(NEWEST, { agent, limit })).map(readSoulVersion)),
    /** Whether this text has ever been in use. */
    wasApplied: (agent: string, text: string): Promise<boolean> =>
      database.read(async (sql) => (await sql.get(ONCE_APPLIED, { agent, text })) !== undefined),
    /** Whether one of the agent's proposals has ever been in use. */
    hasAgentChange: (agent: string): Promise<boolean> =>
      database.read(async (sql) => (await sql.get(AGENT_CHANGE, { agent })) !== undefined),
    /** Lists versions waiting for evaluation, oldest first. */
    unjudged: (agent: string): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => (await sql.all(UNJUDGED, { agent })).map(readSoulVersion)),
    /** Lists passed versions that are now due, oldest first. */
    due: (agent: string, now: number): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => (await sql.all(DUE, { agent, now })).map(readSoulVersion)),
    /**
     * If the clock was set back, the time at which a version passed may lie in the future. The veto
     * period then starts again from now, so that a version is neither delayed by the old clock nor
     * applied before its owner could object.
     */
    async restartVetoTimes(agent: string, now: number): Promise<void> {
      await database.change('power-cut', RESTART_VETO_TIME, { agent, now });
    },
    /**
     * One query returns the version in use, and whether any version still has to be evaluated,
     * applied or reported.
     */
    status: (agent: string, now: number): Promise<SoulStatus> =>
      database.read(async (sql) => {
        const row = await sql.get(STATUS, { agent, now });
        return { inUse: row?.inUse ?? null, isBusy: row?.busy === 1 };
      }),
    /** Lists versions whose owner has not yet been notified of their state, oldest first. */
    unnotified: (agent: string): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => (await sql.all(UNNOTIFIED, { agent })).map(readSoulVersion)),
  };
}

const NEWEST = selectVersions('number >= 0 order by number desc limit :limit');

const ONCE_APPLIED = selectVersions('text = :text and applied_at is not null limit 1');

const AGENT_CHANGE = selectVersions("author = 'agent' and applied_at is not null limit 1");

const UNJUDGED = selectVersions("state = 'proposed' order by number");

const DUE = selectVersions("state = 'passed' and applies_at <= :now order by number");

const RESTART_VETO_TIME = defineStatement(`
  update soul_version set applies_at = :now + (applies_at - judged_at), judged_at = :now
  where agent = :agent and state = 'passed' and judged_at > :now`);

const UNNOTIFIED = selectVersions('unnotified = 1 order by number');

const STATUS = defineStatement(`
  select (select number from soul_version where agent = :agent and state = 'applied') as "inUse",
    case when exists (select 1 from soul_version where agent = :agent and (state = 'proposed'
      or unnotified = 1 or (state = 'passed' and (applies_at <= :now or judged_at > :now)))) then 1 else 0 end as busy`).rows<{
  readonly inUse: number | null;
  readonly busy: number;
}>();

async function seedSoul(
  sql: Sql,
  agent: string,
  soul: Pick<SoulVersion, 'text' | 'head' | 'by'>,
  now: number,
): Promise<boolean> {
  if ((await lockSoul(sql, agent)) > 0) return false;
  const seed = { askedBy: 'seed', author: 'seed', basedOn: null, diff: '' } as const;
  const reason = 'the initial content of SOUL.md';
  const { number } = await addVersion(sql, agent, { ...soul, ...seed, reason }, now);
  applyVersion(sql, { agent, number, now }, { by: null, unnotified: 0 });
  return true;
}

async function proposeSoul(
  sql: Sql,
  agent: string,
  {
    soul,
    most,
    now,
  }: { readonly soul: NewSoulVersion; readonly most: number; readonly now: number },
): Promise<SoulProposal> {
  await lockSoul(sql, agent);
  const known = await versionByRequest(sql, agent, soul.askedBy);
  if (known !== null) return { kind: 'known', version: known };
  const open = await sql.all(OPEN, { agent, author: soul.author });
  const [oldest] = open;
  if (open.length >= most && oldest !== undefined) {
    if (soul.author === 'agent') return { kind: 'full' };
    sql.send(REPLACE, { agent, number: oldest.number });
  }
  return { kind: 'proposed', version: await addVersion(sql, agent, soul, now) };
}

const REPLACE = defineStatement(`
  update soul_version set state = 'replaced', unnotified = 0 where agent = :agent and number = :number`);

/**
 * Stores a text as a proposal under the next number; the caller must hold the lock on the agent's
 * soul.
 */
async function addVersion(
  sql: Sql,
  agent: string,
  soul: StoredSoul,
  now: number,
): Promise<SoulVersion> {
  const next = await sql.get(NEXT_NUMBER, { agent });
  const row = next && (await sql.get(ADD, { ...soul, agent, number: next.number, now }));
  if (row === undefined) throw new Error(`The soul of ${agent} is not locked.`);
  return readSoulVersion(row);
}

type StoredSoul = Omit<NewSoulVersion, 'author'> & { readonly author: SoulAuthor };

const NEXT_NUMBER = defineStatement(`
  update soul set next_number = next_number + 1 where agent = :agent
  returning next_number - 1 as number`).rows<{ readonly number: number }>();

const ADD = defineStatement(`
  insert into soul_version (agent, number, request_key, text, head, author, proposed_by, reason, based_on,
    diff, state, created_at)
  values (:agent, :number, :askedBy, :text, :head, :author, :by, :reason, :basedOn,
    :diff, 'proposed', :now)
  returning ${SOUL_COLUMNS}`).rows<SoulVersionRow>();

/** Selects undecided proposals, oldest first. */
const OPEN = selectVersions("author = :author and state in ('proposed', 'passed') order by number");

const JUDGE = defineStatement(`
  update soul_version set state = :state, score = :score, findings = :findings,
    applies_at = :appliesAt, judged_at = :now, unnotified = 1
  where agent = :agent and number = :number and state = 'proposed'`);

async function applySoul(
  sql: Sql,
  change: SoulChange,
  by: string | null,
  inUse: number | null,
): Promise<boolean> {
  await lockSoul(sql, change.agent);
  const version = await versionOf(sql, change.agent, change.number);
  if (version?.state !== 'passed') return false;
  if ((await appliedVersion(sql, change.agent))?.number !== inUse) return false;
  applyVersion(sql, change, { by, unnotified: by === null ? 1 : 0 });
  return true;
}

async function closeSoulProposal(
  sql: Sql,
  change: SoulChange,
  state: 'vetoed' | 'replaced',
  by: string | null,
): Promise<boolean> {
  await lockSoul(sql, change.agent);
  return (await sql.run(CLOSE, { ...change, state, by })) > 0;
}

const CLOSE = defineStatement(`
  update soul_version set state = :state, decided_by = :by, applies_at = null, unnotified = 0
  where agent = :agent and number = :number and state in ('proposed', 'passed')`);

/** Adds a new version with the text of an earlier version, and applies it. */
async function rollbackSoul(
  sql: Sql,
  agent: string,
  { to, ...order }: SoulRollback,
  now: number,
): Promise<SoulVersion | null> {
  await lockSoul(sql, agent);
  const known = await versionByRequest(sql, agent, order.askedBy);
  if (known !== null) return known;
  const inUse = await appliedVersion(sql, agent);
  const earlier = await versionOf(sql, agent, to);
  if (inUse === null || inUse.number !== order.basedOn) return null;
  if (earlier === null || earlier.appliedAt === null) return null;
  // The current front matter is kept, because returning to older text must not undo restrictions
  // that were added later.
  const soul = { ...order, text: earlier.text, head: inUse.head, author: 'person' } as const;
  const { number } = await addVersion(sql, agent, soul, now);
  const verdict = { score: earlier.score, findings: encodeJson(earlier.findings) };
  sql.send(KEEP_VERDICT, { agent, number, now, ...verdict });
  applyVersion(sql, { agent, number, now }, { by: order.by, unnotified: 0 });
  return versionOf(sql, agent, number);
}

const KEEP_VERDICT = defineStatement(`
  update soul_version set score = :score, findings = :findings, judged_at = :now
  where agent = :agent and number = :number`);
