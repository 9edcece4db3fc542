import { ReplyRoute } from '@parley/core';
import {
  type Database,
  decodeCheckedJson,
  defineStatement,
  encodeJson,
  type Sql,
} from './database.ts';
import type { Row } from './tables.ts';

/** One person's linked accounts, by their Parley ids (`telegram:42`). */
export interface AccountLink {
  readonly members: readonly string[];
  /** Whether an owner confirmed every account; only such a link grants owner rights. */
  readonly byOwner: boolean;
  /**
   * The conversation shared by an owner's linked direct chats. The names of these conversations are
   * never reused.
   */
  readonly mainConversation: string;
}

/**
 * The action that `/link` requests. A new code is stored only if the person does not have a valid
 * code.
 */
export type LinkAction =
  | { readonly kind: 'make'; readonly code: string }
  | { readonly kind: 'type'; readonly code: string }
  /** Removes an account from the person's link. */
  | { readonly kind: 'leave'; readonly personId: string };

/** The person who uses `/link`. */
export interface LinkRequester {
  readonly personId: string;
  /** Whether this person owns the agent that they are writing to. */
  readonly isOwner: boolean;
  /** Each agent's owners, if there are several agents (F14). */
  readonly ownersOfAgents?: readonly (readonly string[])[];
}

/**
 * The result of `/link`. Linking to an owner takes two steps: another account types the code, then
 * the owner types it again in the chat where it was created. If no owner is involved, the link is
 * made as soon as the code is typed.
 */
export type LinkResult =
  /** `typist`: the account that typed the code and is waiting for the owner's confirmation. */
  | {
      readonly kind: 'code';
      readonly code: string;
      readonly members: readonly string[];
      readonly typist: string | null;
    }
  | { readonly kind: 'unknown-code' }
  /** The account that created the code typed it first. */
  | { readonly kind: 'own-code' }
  /** Another account has already typed the code. */
  | { readonly kind: 'taken' }
  /** An owner typed a non-owner's code, which is refused. */
  | { readonly kind: 'owner-must-make' }
  | {
      readonly kind: 'to-confirm';
      readonly code: string;
      readonly makerRoute: ReplyRoute;
      /**
       * The main conversation of the person who created the code; null if they have none or are not
       * an owner.
       */
      readonly mainConversation: string | null;
    }
  | {
      readonly kind: 'linked';
      readonly members: readonly string[];
      /** The chat in which the other account is notified. */
      readonly otherRoute: ReplyRoute;
      readonly mainConversation: string | null;
    }
  | { readonly kind: 'left'; readonly personId: string }
  | { readonly kind: 'not-linked' };

/**
 * Which accounts belong to one person (F13), stored in the tables `person_link` and `link_code`.
 * Only the `/link` command writes these tables; ingress reads them.
 */
export type LinkRepository = ReturnType<typeof createLinkRepository>;

export function createLinkRepository(database: Database) {
  return {
    /** Finds the link to which an account belongs; null if it is not linked. */
    of: (personId: string) => database.read((sql) => findLink(sql, personId)),
  };
}

const LINK = defineStatement(`
  select person_id, link_id, by_owner from person_link
  where link_id = (select link_id from person_link where person_id = :personId)
  order by person_id`).rows<LinkRow>();

async function findLink(sql: Sql, personId: string): Promise<AccountLink | null> {
  const rows = await sql.all(LINK, { personId });
  const [first] = rows;
  if (first === undefined) return null;
  return {
    members: rows.map((row) => row.person_id),
    byOwner: first.by_owner === 1,
    // The prefix avoids clashes with other conversations, whose names consist of channel, account
    // and chat.
    mainConversation: `linked:${first.link_id}`,
  };
}

/** Two accounts to link; `linkId` is used if the host has no suitable link yet. */
interface LinkJoinRequest {
  readonly host: string;
  readonly newcomer: string;
  readonly linkId: string;
  readonly byOwner: boolean;
}

/**
 * Adds an account to the host's link. The newcomer leaves its previous link, and the host leaves a
 * link that was not confirmed by an owner.
 */
async function joinLink(
  sql: Sql,
  { host, newcomer, linkId, byOwner }: LinkJoinRequest,
  now: number,
): Promise<AccountLink | null> {
  const before = await findLink(sql, host);
  if (before?.byOwner === byOwner && before.members.includes(newcomer)) return before;
  await removeMember(sql, newcomer);
  const isByOwner = byOwner ? 1 : 0;
  const existing = await sql.get(LINK_OF_KIND, { personId: host, byOwner: isByOwner });
  if (existing === undefined) await removeMember(sql, host);
  const link = { linkId: existing?.link_id ?? linkId, byOwner: isByOwner, now };
  if (existing === undefined) sql.send(ADD_MEMBER, { ...link, personId: host });
  sql.send(ADD_MEMBER, { ...link, personId: newcomer });
  return findLink(sql, newcomer);
}

/**
 * Removes an account from its link, and dissolves the link if only one account is left; returns
 * false if the account had no link.
 */
async function removeMember(sql: Sql, personId: string): Promise<boolean> {
  const gone = await sql.get(REMOVE_MEMBER, { personId });
  if (gone === undefined) return false;
  sql.send(DISSOLVE, { linkId: gone.link_id });
  return true;
}

const VALID_MS = 10 * 60_000;

/** Runs a `/link` command inside the caller's transaction. */
export async function applyLink(
  sql: Sql,
  asker: LinkRequester,
  action: LinkAction,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  sql.send(FORGET_CODES, { now });
  switch (action.kind) {
    case 'make':
      return createLinkCode(sql, asker, action.code, route, now);
    case 'type':
      return redeemTypedCode(sql, asker, action.code, route, now);
    case 'leave':
      return leaveLink(sql, asker, action.personId);
  }
}

async function createLinkCode(
  sql: Sql,
  { personId, isOwner }: LinkRequester,
  code: string,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  const members = (await findLink(sql, personId))?.members ?? [];
  const valid = await sql.get(CODE_OF, { personId });
  if (valid !== undefined) {
    return { kind: 'code', code: valid.code, members, typist: valid.redeemer_id };
  }
  const maker = { personId, isOwner: isOwner ? 1 : 0, route: encodeJson(route) };
  sql.send(MAKE_CODE, { code, ...maker, expiresAt: now + VALID_MS });
  return { kind: 'code', code, members, typist: null };
}

async function redeemTypedCode(
  sql: Sql,
  asker: LinkRequester,
  typed: string,
  route: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  const code = await sql.get(CODE, { code: typed });
  if (code === undefined) return { kind: 'unknown-code' };
  if (code.creator_id === asker.personId) return confirmLinkCode(sql, asker, code, now);
  if (code.redeemer_id !== null) return { kind: 'taken' };
  if (await wouldTransferRights(sql, asker, code.creator_id)) return { kind: 'owner-must-make' };
  if (code.creator_is_owner === 1) return requestOwnerConfirmation(sql, asker, code, route);
  if (asker.isOwner) return { kind: 'owner-must-make' };
  return redeemCode(sql, code, asker.personId, readCodeRoute(code.creator_route), now);
}

/**
 * Whether the person who typed the code owns an agent that its creator does not, because linking
 * would make the creator an owner as well.
 */
async function wouldTransferRights(
  sql: Sql,
  { personId, ownersOfAgents = [] }: LinkRequester,
  makerId: string,
): Promise<boolean> {
  const gained = ownersOfAgents.filter((owners) => owners.includes(personId));
  if (gained.length === 0) return false;
  const known = await findLink(sql, makerId);
  const makers = [makerId, ...(known?.byOwner === true ? known.members : [])];
  return gained.some((owners) => !makers.some((one) => owners.includes(one)));
}

/**
 * Handles the owner's confirmation of a code; the other account gains rights only at this point.
 */
async function confirmLinkCode(
  sql: Sql,
  asker: LinkRequester,
  code: LinkCode,
  now: number,
): Promise<LinkResult> {
  if (code.redeemer_id === null || code.redeemer_route === null) return { kind: 'own-code' };
  // A person who is no longer an owner cannot grant owner rights.
  if (!asker.isOwner) return { kind: 'unknown-code' };
  return redeemCode(sql, code, code.redeemer_id, readCodeRoute(code.redeemer_route), now);
}

async function requestOwnerConfirmation(
  sql: Sql,
  { personId }: LinkRequester,
  code: LinkCode,
  route: ReplyRoute,
): Promise<LinkResult> {
  const claim = { code: code.code, personId, route: encodeJson(route) };
  if ((await sql.run(CLAIM_CODE, claim)) === 0) return { kind: 'taken' };
  const makerRoute = readCodeRoute(code.creator_route);
  const mainConversation = getMainConversation(await findLink(sql, code.creator_id));
  return { kind: 'to-confirm', code: code.code, makerRoute, mainConversation };
}

async function redeemCode(
  sql: Sql,
  code: LinkCode,
  newcomer: string,
  otherRoute: ReplyRoute,
  now: number,
): Promise<LinkResult> {
  if ((await sql.run(USE_CODE, { code: code.code })) === 0) return { kind: 'unknown-code' };
  const byOwner = code.creator_is_owner === 1;
  const joining = { host: code.creator_id, newcomer, linkId: code.code, byOwner };
  const joined = await joinLink(sql, joining, now);
  const members = joined?.members ?? [];
  return { kind: 'linked', members, otherRoute, mainConversation: getMainConversation(joined) };
}

/** Only an owner's accounts share a conversation. */
function getMainConversation(found: AccountLink | null): string | null {
  return found?.byOwner === true ? found.mainConversation : null;
}

async function leaveLink(sql: Sql, asker: LinkRequester, personId: string): Promise<LinkResult> {
  const own = await findLink(sql, asker.personId);
  if (own === null || !own.members.includes(personId)) return { kind: 'not-linked' };
  await removeMember(sql, personId);
  return { kind: 'left', personId };
}

function readCodeRoute(text: string): ReplyRoute {
  return decodeCheckedJson(ReplyRoute, text, 'route of a link code');
}

type LinkRow = Row<'person_link', 'person_id' | 'link_id' | 'by_owner'>;

/** A link code, with its routes as JSON. */
type LinkCode = Row<'link_code'>;

const LINK_OF_KIND = defineStatement(
  'select link_id from person_link where person_id = :personId and by_owner = :byOwner',
).rows<Pick<LinkRow, 'link_id'>>();

const ADD_MEMBER = defineStatement(`
  insert into person_link (person_id, link_id, by_owner, linked_at)
  values (:personId, :linkId, :byOwner, :now)`);

const REMOVE_MEMBER = defineStatement(
  'delete from person_link where person_id = :personId returning link_id',
).rows<Pick<LinkRow, 'link_id'>>();

/** Deletes a link with only one account left. */
const DISSOLVE = defineStatement(`
  delete from person_link where link_id = :linkId
    and (select count(*) from person_link where link_id = :linkId) = 1`);

const FORGET_CODES = defineStatement('delete from link_code where expires_at <= :now');

const CODE = defineStatement('select * from link_code where code = :code').rows<LinkCode>();

const CODE_OF = defineStatement(
  'select * from link_code where creator_id = :personId',
).rows<LinkCode>();

const MAKE_CODE = defineStatement(`
  insert into link_code (code, creator_id, creator_is_owner, creator_route, expires_at)
  values (:code, :personId, :isOwner, :route, :expiresAt)`);

const CLAIM_CODE = defineStatement(`
  update link_code set redeemer_id = :personId, redeemer_route = :route
  where code = :code and redeemer_id is null`);

const USE_CODE = defineStatement('delete from link_code where code = :code');
