import { ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { LinkAction, LinkAsker, LinkResult } from '../links.ts';
import type { LinkCodeTable } from '../tables/people-tables.ts';
import { join, leave, linkOf } from './link-repository.ts';

const VALID_MS = 10 * 60_000;

type Code = Selectable<LinkCodeTable>;

/** Does what `/link` asks for, inside the caller's transaction. */
export async function applyLink(
  sql: Sql,
  asker: LinkAsker,
  action: LinkAction,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  await sql.deleteFrom('link_code').where('expires_at', '<=', now).execute();
  switch (action.kind) {
    case 'make':
      return makeCode(sql, asker, action.code, route, now);
    case 'type':
      return typeCode(sql, asker, action.code, route, now);
    case 'leave':
      return leaveLink(sql, asker, action.personId);
  }
}

async function makeCode(
  sql: Sql,
  { personId, isOwner }: LinkAsker,
  code: string,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  const members = (await linkOf(sql, personId))?.members ?? [];
  const valid = await sql
    .selectFrom('link_code')
    .select(['code', 'typist_id'])
    .where('maker_id', '=', personId)
    .executeTakeFirst();
  if (valid !== undefined) {
    return { kind: 'code', code: valid.code, members, typist: valid.typist_id };
  }
  const maker = { maker_id: personId, maker_is_owner: isOwner ? 1 : 0 };
  await sql
    .insertInto('link_code')
    .values({ code, ...maker, maker_route: toJson(route), expires_at: now + VALID_MS })
    .execute();
  return { kind: 'code', code, members, typist: null };
}

async function typeCode(
  sql: Sql,
  asker: LinkAsker,
  typed: string,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  const code = await sql
    .selectFrom('link_code')
    .selectAll()
    .where('code', '=', typed)
    .executeTakeFirst();
  if (code === undefined) return { kind: 'unknown-code' };
  if (code.maker_id === asker.personId) return confirm(sql, asker, code, now);
  if (code.typist_id !== null) return { kind: 'taken' };
  if (code.maker_is_owner === 1) return waitForOwner(sql, asker, code, route);
  if (asker.isOwner) return { kind: 'owner-must-make' };
  return link(sql, code, asker.personId, routeOf(code.maker_route), now);
}

/** The owner's second typing: only now does the other account get anything. */
async function confirm(sql: Sql, asker: LinkAsker, code: Code, now: number): Promise<LinkResult> {
  if (code.typist_id === null || code.typist_route === null) return { kind: 'own-code' };
  // Whoever is no owner any more cannot give away what an owner may do.
  if (!asker.isOwner) return { kind: 'unknown-code' };
  return link(sql, code, code.typist_id, routeOf(code.typist_route), now);
}

async function waitForOwner(
  sql: Sql,
  { personId }: LinkAsker,
  code: Code,
  route: ReplyRoute,
): Promise<LinkResult> {
  const claimed = await sql
    .updateTable('link_code')
    .set({ typist_id: personId, typist_route: toJson(route) })
    .where('code', '=', code.code)
    .where('typist_id', 'is', null)
    .executeTakeFirst();
  if (claimed.numUpdatedRows === 0n) return { kind: 'taken' };
  return { kind: 'to-confirm', code: code.code, makerRoute: routeOf(code.maker_route) };
}

async function link(
  sql: Sql,
  code: Code,
  newcomer: string,
  otherRoute: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  const used = await sql.deleteFrom('link_code').where('code', '=', code.code).executeTakeFirst();
  if (used.numDeletedRows === 0n) return { kind: 'unknown-code' };
  const byOwner = code.maker_is_owner === 1;
  const joining = { host: code.maker_id, newcomer, linkId: code.code, byOwner };
  return { kind: 'linked', members: await join(sql, joining, now), otherRoute };
}

async function leaveLink(sql: Sql, asker: LinkAsker, personId: string): Promise<LinkResult> {
  const own = await linkOf(sql, asker.personId);
  if (own === null || !own.members.includes(personId)) return { kind: 'not-linked' };
  await leave(sql, personId);
  return { kind: 'left', personId };
}

function routeOf(text: string): ReplyRoute {
  return fromCheckedJson(ReplyRoute, text, 'route of a link code');
}
