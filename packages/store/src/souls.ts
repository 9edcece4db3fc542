import type { Database, Sql } from './database.ts';
import { toJson } from './json-column.ts';
import {
  appliedOf,
  lockSoul,
  type NewSoul,
  readSoulVersion,
  type SoulAuthor,
  type SoulMoment,
  type SoulProposal,
  type SoulRepository,
  type SoulRollback,
  type SoulVerdict,
  type SoulVersion,
  useVersion,
  versionAskedBy,
  versionOf,
} from './soul-versions.ts';
import { statement } from './statement.ts';

/** Versions of SOUL.md on SQL. */
export function soulRepository(database: Database): SoulRepository {
  return {
    ...soulLookups(database),
    seed: (agent, soul, now) => database.write((sql) => seedSoul(sql, agent, soul, now)),
    propose: (agent, soul, most, now) =>
      database.write((sql) => proposeSoul(sql, agent, { soul, most, now })),
    judge: (agent, number, verdict, now) =>
      database.write((sql) => judgeSoul(sql, { agent, number, now }, verdict)),
    apply: (agent, number, by, inUse, now) =>
      database.write((sql) => applySoul(sql, { agent, number, now }, by, inUse)),
    close: (agent, number, state, by, now) =>
      database.write((sql) => closeSoul(sql, { agent, number, now }, state, by)),
    rollback: (agent, order, now) => database.write((sql) => rollbackSoul(sql, agent, order, now)),
    keepHead: (agent, number, head) =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ head }).where('agent', '=', agent);
        await row.where('number', '=', number).execute();
      }),
    told: (agent, number, state) =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ untold: 0 }).where('agent', '=', agent);
        await row.where('number', '=', number).where('state', '=', state).execute();
      }),
  };
}

/** What of the repository reads alone. */
function soulLookups(
  database: Database,
): Pick<
  SoulRepository,
  'applied' | 'get' | 'list' | 'wasApplied' | 'unjudged' | 'due' | 'untold' | 'glance'
> {
  const all = (sql: Sql, agent: string) =>
    sql.selectFrom('soul_version').selectAll().where('agent', '=', agent);
  const oldestFirst = (sql: Sql, agent: string) => all(sql, agent).orderBy('number');
  return {
    applied: (agent) => database.read((sql) => appliedOf(sql, agent)),
    get: (agent, number) => database.read((sql) => versionOf(sql, agent, number)),
    list: (agent, limit) =>
      database.read(async (sql) => {
        const query = all(sql, agent).orderBy('number', 'desc').limit(limit);
        return (await query.execute()).map(readSoulVersion);
      }),
    wasApplied: (agent, text) =>
      database.read(async (sql) => {
        const query = sql
          .selectFrom('soul_version')
          .select('number')
          .where('agent', '=', agent)
          .where('text', '=', text)
          .where('applied_at', 'is not', null);
        return (await query.limit(1).executeTakeFirst()) !== undefined;
      }),
    unjudged: (agent) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('state', '=', 'proposed');
        return (await query.execute()).map(readSoulVersion);
      }),
    due: (agent, now) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent)
          .where('state', '=', 'passed')
          .where('applies_at', '<=', now);
        return (await query.execute()).map(readSoulVersion);
      }),
    glance: (agent, now) =>
      database.read(async (sql) => {
        const row = await sql.get(GLANCE, { agent, now });
        return { inUse: row?.inUse ?? null, isBusy: row?.busy === 1 };
      }),
    untold: (agent) =>
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

/** Makes version 0 and puts it into use, unless there is a version. */
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

/** proposed → passed or refused, once. */
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

/** passed → applied, if `inUse` is in use still. */
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

/** Ends a proposal that is open. */
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
