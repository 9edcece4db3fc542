import type { Sql } from '../database.ts';
import type { NewSoul, SoulAuthor, SoulProposal, SoulVersion } from '../souls.ts';
import { readSoulVersion } from './soul-row.ts';
import { lockSoul, useVersion, versionAskedBy } from './use-soul.ts';

/** Makes version 0 and puts it into use, unless there is a version. */
export async function seedSoul(
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
export async function proposeSoul(
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
export async function addVersion(
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
