import type { Selectable } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { Link, LinkRepository } from '../links.ts';
import { statement } from '../statement.ts';
import type { PersonLinkTable } from '../tables/people-tables.ts';

/** Links on SQL. */
export function linkRepository(database: Database): LinkRepository {
  return { of: (personId) => database.read((sql) => linkOf(sql, personId)) };
}

const LINK = statement(`
  select person_id, link_id, by_owner from person_link
  where link_id = (select link_id from person_link where person_id = :personId)
  order by person_id`).rows<Selectable<PersonLinkTable>>();

/** The link an account belongs to, inside the caller's transaction. */
export async function linkOf(sql: Sql, personId: string): Promise<Link | null> {
  const rows = await sql.all(LINK, { personId });
  const [first] = rows;
  if (first === undefined) return null;
  return {
    members: rows.map((row) => row.person_id),
    byOwner: first.by_owner === 1,
    // The names of other conversations have a channel, an account and a chat.
    mainConversation: `linked:${first.link_id}`,
  };
}

/** Whom to join with whom: `linkId` names the link if the host has none of this kind. */
export interface Joining {
  readonly host: string;
  readonly newcomer: string;
  readonly linkId: string;
  readonly byOwner: boolean;
}

/**
 * Makes an account a member of the host's link. What the newcomer was linked with before stays behind,
 * and so does a link of the host that no owner confirmed: nobody comes along unasked.
 */
export async function join(
  sql: Sql,
  { host, newcomer, linkId, byOwner }: Joining,
  now: number,
): Promise<readonly string[]> {
  const before = await linkOf(sql, host);
  if (before?.byOwner === byOwner && before.members.includes(newcomer)) return before.members;
  await leave(sql, newcomer);
  const kind = { by_owner: byOwner ? 1 : 0, linked_at: now };
  const existing = await sql
    .selectFrom('person_link')
    .select('link_id')
    .where('person_id', '=', host)
    .where('by_owner', '=', kind.by_owner)
    .executeTakeFirst();
  if (existing === undefined) await leave(sql, host);
  const link = { ...kind, link_id: existing?.link_id ?? linkId };
  const members = existing === undefined ? [host, newcomer] : [newcomer];
  await sql
    .insertInto('person_link')
    .values(members.map((person_id) => ({ ...link, person_id })))
    .execute();
  return (await linkOf(sql, newcomer))?.members ?? [];
}

/** Takes an account out of its link; one that is left alone is linked no more. False if there is none. */
export async function leave(sql: Sql, personId: string): Promise<boolean> {
  const gone = await sql
    .deleteFrom('person_link')
    .where('person_id', '=', personId)
    .returning('link_id')
    .executeTakeFirst();
  if (gone === undefined) return false;
  const left = await sql
    .selectFrom('person_link')
    .select('person_id')
    .where('link_id', '=', gone.link_id)
    .execute();
  if (left.length === 1) {
    await sql.deleteFrom('person_link').where('link_id', '=', gone.link_id).execute();
  }
  return true;
}
