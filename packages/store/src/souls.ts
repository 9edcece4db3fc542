import type { Database, Sql } from './database.ts';
import { toJson } from './json-column.ts';
import {
  appliedOf,
  lockSoul,
  type NewSoul,
  readSoulVersion,
  type SoulAuthor,
  type SoulGlance,
  type SoulMoment,
  type SoulProposal,
  type SoulRollback,
  type SoulState,
  type SoulVerdict,
  type SoulVersion,
  useVersion,
  versionAskedBy,
  versionOf,
} from './soul-versions.ts';
import { statement } from './statement.ts';

/**
 * The versions of SOUL.md (W06), tables `soul` and `soul_version`: the truth, of which the file is a copy. The
 * evolution service writes them, the prompt reads the one in use. Every change compares the state
 * that it begins from and sets the next one in one transaction, so of two at once one happens.
 */
export type SoulRepository = ReturnType<typeof soulRepository>;

export function soulRepository(database: Database) {
  return {
    ...soulLookups(database),
    /** Makes version 0 of it; false when there is a version already. */
    seed: (agent: string, soul: Pick<SoulVersion, 'text' | 'head' | 'by'>, now: number) =>
      database.write((sql) => seedSoul(sql, agent, soul, now)),
    /** `most`: of the agent’s proposals that are open at a time; a person’s oldest makes room. */
    propose: (agent: string, soul: NewSoul, most: number, now: number) =>
      database.write((sql) => proposeSoul(sql, agent, { soul, most, now })),
    /** proposed → passed or refused; false when it was judged or vetoed meanwhile. */
    judge: (agent: string, number: number, verdict: SoulVerdict, now: number) =>
      database.write((sql) => judgeSoul(sql, { agent, number, now }, verdict)),
    /**
     * passed → applied, and what was in use → replaced. False when it did not pass, or when `inUse` is not
     * in use any more. `by` null: its time has come.
     */
    apply: (agent: string, number: number, by: string | null, inUse: number, now: number) =>
      database.write((sql) => applySoul(sql, { agent, number, now }, by, inUse)),
    /** proposed or passed → vetoed (by somebody) or replaced (by another version). */
    close: (
      agent: string,
      number: number,
      state: 'vetoed' | 'replaced',
      by: string | null,
      now: number,
    ) => database.write((sql) => closeSoul(sql, { agent, number, now }, state, by)),
    /** A new version with the text of one that was in use; null when `basedOn` is not in use any more. */
    rollback: (agent: string, order: SoulRollback, now: number) =>
      database.write((sql) => rollbackSoul(sql, agent, order, now)),
    /** The front matter of the file has changed; the text is the same. */
    keepHead: (agent: string, number: number, head: string): Promise<void> =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ head }).where('agent', '=', agent);
        await row.where('number', '=', number).execute();
      }),
    /** The owner knows; unless its state has changed meanwhile. */
    told: (agent: string, number: number, state: SoulState): Promise<void> =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ untold: 0 }).where('agent', '=', agent);
        await row.where('number', '=', number).where('state', '=', state).execute();
      }),
  };
}

/** What of the repository reads alone. */
function soulLookups(database: Database) {
  const all = (sql: Sql, agent: string) =>
    sql.selectFrom('soul_version').selectAll().where('agent', '=', agent);
  const oldestFirst = (sql: Sql, agent: string) => all(sql, agent).orderBy('number');
  return {
    /** The one in use; null before the seed. */
    applied: (agent: string): Promise<SoulVersion | null> =>
      database.read((sql) => appliedOf(sql, agent)),
    get: (agent: string, number: number): Promise<SoulVersion | null> =>
      database.read((sql) => versionOf(sql, agent, number)),
    /** The newest first. */
    list: (agent: string, limit: number): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => {
        const query = all(sql, agent).orderBy('number', 'desc').limit(limit);
        return (await query.execute()).map(readSoulVersion);
      }),
    /** Whether this text was in use at some time. */
    wasApplied: (agent: string, text: string): Promise<boolean> =>
      database.read(async (sql) => {
        const query = sql
          .selectFrom('soul_version')
          .select('number')
          .where('agent', '=', agent)
          .where('text', '=', text)
          .where('applied_at', 'is not', null);
        return (await query.limit(1).executeTakeFirst()) !== undefined;
      }),
    /** What waits for the evaluation, oldest first. */
    unjudged: (agent: string): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('state', '=', 'proposed');
        return (await query.execute()).map(readSoulVersion);
      }),
    /** Passed ones whose time has come, oldest first. */
    due: (agent: string, now: number): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent)
          .where('state', '=', 'passed')
          .where('applies_at', '<=', now);
        return (await query.execute()).map(readSoulVersion);
      }),
    /** In one look: which version is in use, and whether any waits for an evaluation, its time or its notice. */
    glance: (agent: string, now: number): Promise<SoulGlance> =>
      database.read(async (sql) => {
        const row = await sql.get(GLANCE, { agent, now });
        return { inUse: row?.inUse ?? null, isBusy: row?.busy === 1 };
      }),
    /** Versions whose state the owner has not been told yet, oldest first. */
    untold: (agent: string): Promise<readonly SoulVersion[]> =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('untold', '=', 1);
        return (await query.execute()).map(readSoulVersion);
      }),
  };
}

const GLANCE = statement(`
  select (select number from soul_version where agent = :agent and state = 'applied') as "inUse",
    case when exists (select 1 from soul_version where agent = :agent and (state = 'proposed'
      or untold = 1 or (state = 'passed' and applies_at <= :now))) then 1 else 0 end as busy`).rows<{
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
  const reason = 'what SOUL.md said at first';
  const { number } = await addVersion(sql, agent, { ...soul, ...seed, reason }, now);
  await useVersion(sql, { agent, number, now }, { by: null, untold: 0 });
  return true;
}

/** Stores a proposal, once for each call that makes it. */
async function proposeSoul(
  sql: Sql,
  agent: string,
  { soul, most, now }: { readonly soul: NewSoul; readonly most: number; readonly now: number },
): Promise<SoulProposal> {
  await lockSoul(sql, agent);
  const known = await versionAskedBy(sql, agent, soul.askedBy);
  if (known !== null) return { kind: 'known', version: known };
  const open = await openOf(sql, agent, soul.author);
  const [oldest] = open;
  if (open.length >= most && oldest !== undefined) {
    if (soul.author === 'agent') return { kind: 'full' };
    await sql
      .updateTable('soul_version')
      .set({ state: 'replaced', untold: 0 })
      .where('agent', '=', agent)
      .where('number', '=', oldest)
      .execute();
  }
  return { kind: 'proposed', version: await addVersion(sql, agent, soul, now) };
}

/** Stores a text under the next number, as a proposal. The caller has locked the agent’s soul. */
async function addVersion(
  sql: Sql,
  agent: string,
  soul: Omit<NewSoul, 'author'> & { readonly author: SoulAuthor },
  now: number,
): Promise<SoulVersion> {
  const { next_number: next } = await sql
    .updateTable('soul')
    .set((eb) => ({ next_number: eb('next_number', '+', 1) }))
    .where('agent', '=', agent)
    .returning('next_number')
    .executeTakeFirstOrThrow();
  const row = await sql
    .insertInto('soul_version')
    .values({
      agent,
      number: next - 1,
      asked_by: soul.askedBy,
      text: soul.text,
      head: soul.head,
      author: soul.author,
      by_whom: soul.by,
      reason: soul.reason,
      based_on: soul.basedOn,
      diff: soul.diff,
      state: 'proposed',
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return readSoulVersion(row);
}

/** The numbers of proposals that are not decided, oldest first. */
async function openOf(
  sql: Sql,
  agent: string,
  author: 'agent' | 'person',
): Promise<readonly number[]> {
  const rows = await sql
    .selectFrom('soul_version')
    .select('number')
    .where('agent', '=', agent)
    .where('author', '=', author)
    .where('state', 'in', ['proposed', 'passed'])
    .orderBy('number')
    .execute();
  return rows.map(({ number }) => number);
}

async function judgeSoul(
  sql: Sql,
  { agent, number, now }: SoulMoment,
  { state, score, findings, appliesAt }: SoulVerdict,
): Promise<boolean> {
  const judged = await sql
    .updateTable('soul_version')
    .set({
      state,
      score,
      findings: toJson(findings),
      applies_at: appliesAt,
      judged_at: now,
      untold: 1,
    })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .where('state', '=', 'proposed')
    .returning('number')
    .executeTakeFirst();
  return judged !== undefined;
}

async function applySoul(
  sql: Sql,
  moment: SoulMoment,
  by: string | null,
  inUse: number,
): Promise<boolean> {
  await lockSoul(sql, moment.agent);
  const version = await versionOf(sql, moment.agent, moment.number);
  if (version?.state !== 'passed') return false;
  if ((await appliedOf(sql, moment.agent))?.number !== inUse) return false;
  await useVersion(sql, moment, { by, untold: by === null ? 1 : 0 });
  return true;
}

async function closeSoul(
  sql: Sql,
  { agent, number }: SoulMoment,
  state: 'vetoed' | 'replaced',
  by: string | null,
): Promise<boolean> {
  await lockSoul(sql, agent);
  const closed = await sql
    .updateTable('soul_version')
    .set({ state, decided_by: by, applies_at: null, untold: 0 })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .where('state', 'in', ['proposed', 'passed'])
    .returning('number')
    .executeTakeFirst();
  return closed !== undefined;
}

/** Puts the text of an earlier version into use again, as a new one. */
async function rollbackSoul(
  sql: Sql,
  agent: string,
  { to, ...order }: SoulRollback,
  now: number,
): Promise<SoulVersion | null> {
  await lockSoul(sql, agent);
  const known = await versionAskedBy(sql, agent, order.askedBy);
  if (known !== null) return known;
  const inUse = await appliedOf(sql, agent);
  const earlier = await versionOf(sql, agent, to);
  if (inUse === null || inUse.number !== order.basedOn) return null;
  if (earlier === null || earlier.appliedAt === null) return null;
  // The front matter is the file’s own: going back to an older text must not open what was closed since.
  const soul = { ...order, text: earlier.text, head: inUse.head, author: 'person' } as const;
  const { number } = await addVersion(sql, agent, soul, now);
  await sql
    .updateTable('soul_version')
    .set({ score: earlier.score, findings: toJson(earlier.findings), judged_at: now })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .execute();
  await useVersion(sql, { agent, number, now }, { by: order.by, untold: 0 });
  return versionOf(sql, agent, number);
}
