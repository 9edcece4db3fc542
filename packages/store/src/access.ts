import { type NewId, ReplyRoute, type Role } from '@parley/core';
import {
  type Database,
  decodeCheckedJson,
  defineStatement,
  encodeJson,
  type Sql,
} from './database.ts';
import { insertParts } from './outbox-parts.ts';
import type { NewPart } from './rows.ts';

/**
 * A stranger in a direct chat, and the route for replies to them. The name comes from the platform
 * and is untrusted.
 */
interface PairingApplicant {
  readonly channel: string;
  readonly account: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly route: ReplyRoute;
}

/** A stranger whose access request is pending. */
export interface PairingRequest extends PairingApplicant {
  readonly code: string;
  readonly expiresAt: number;
}

/** The stranger's id in Parley's format: `telegram:42`. */
export function toApplicantPersonId({
  channel,
  senderId,
}: Pick<PairingApplicant, 'channel' | 'senderId'>): string {
  return `${channel}:${senderId}`;
}

/** How long a pairing code is valid, and how many requests may be pending per account. */
export interface PairingLimits {
  readonly validMs: number;
  readonly pending: number;
}

const USUAL_BOUNDS: PairingLimits = { validMs: 60 * 60_000, pending: 3 };

/**
 * Strangers who ask for access and senders who have it (F05): the tables `pairing_request` and
 * `allowed_sender`. Ingress and the `/pair` command write them, ingress reads them, and all
 * gateways share them.
 */
export type PairingRepository = ReturnType<typeof createPairingRepository>;

export function createPairingRepository(database: Database, newId: NewId) {
  return {
    /**
     * Records a stranger's request for access. Each sender has one code, which does not change
     * while it is valid. When a code is stored, `notice` is added to the outbox in the same
     * transaction, so a sender gets one notice per code.
     */
    request: (
      applicant: PairingApplicant,
      code: string,
      notice: readonly NewPart[],
      now: number,
      bounds: PairingLimits = USUAL_BOUNDS,
    ): Promise<'new' | 'known' | 'full'> =>
      database.write(async (sql) => {
        // Prevents two strangers from taking the last free slot at the same time.
        if (database.dialect === 'postgres') sql.send(LOCK);
        sql.send(FORGET_EXPIRED, { now });
        const known = await sql.all(APPLICANTS, applicant);
        if (known.some(({ senderId }) => senderId === applicant.senderId)) return 'known';
        const pending = known.filter(({ refused }) => refused === 0);
        if (pending.length >= bounds.pending) return 'full';
        const route = encodeJson(applicant.route);
        sql.send(REQUEST, { ...applicant, code, route, expiresAt: now + bounds.validMs });
        const about = [toApplicantPersonId(applicant)];
        insertParts(sql, notice, { turnId: null, about, now, newId });
        return 'new';
      }),

    /** Lists pending requests that have not expired, oldest first. */
    pending: (now: number) => database.read((sql) => listPendingRequests(sql, now)),

    /**
     * Permanently allows the sender of the request with this code and adds `welcome` to the outbox,
     * in one transaction. Returns null if no request has this code.
     */
    approve: (
      code: string,
      welcome: (request: PairingRequest) => readonly NewPart[],
      now: number,
    ): Promise<PairingRequest | null> =>
      database.write(async (sql) => {
        const request = await approveRequest(sql, code, now);
        if (request !== null) {
          const about = [toApplicantPersonId(request)];
          insertParts(sql, welcome(request), { turnId: null, about, now, newId });
        }
        return request;
      }),

    /**
     * Refuses the access request with this code. The sender is not notified and can ask again after
     * the code has expired. Returns null if no request has this code.
     */
    refuse: (code: string, now: number): Promise<PairingRequest | null> =>
      database.write(async (sql) => {
        const row = await sql.get(REFUSE, { code, now });
        return row === undefined ? null : readRequest(row);
      }),

    /**
     * Removes a person's requests from every account of the channel, because they have gained
     * access by other means.
     */
    settle: (channel: string, senderId: string): Promise<void> =>
      database.write(async (sql) => sql.send(SETTLE, { channel, senderId })),

    isAllowed: (channel: string, account: string, senderId: string): Promise<boolean> =>
      database.read(async (sql) => {
        return (await sql.get(IS_ALLOWED, { channel, account, senderId })) !== undefined;
      }),
  };
}

export async function listPendingRequests(
  sql: Sql,
  now: number,
): Promise<readonly PairingRequest[]> {
  const rows = await sql.all(PENDING, { now });
  return rows.map(readRequest);
}

/**
 * Allows the sender of the request with this code, inside the caller's transaction. Returns null if
 * no request has this code.
 */
export async function approveRequest(
  sql: Sql,
  code: string,
  now: number,
): Promise<PairingRequest | null> {
  const row = await sql.get(TAKE_REQUEST, { code, now });
  if (row === undefined) return null;
  sql.send(ALLOW, { ...row, now });
  return readRequest(row);
}

interface RequestRow extends Omit<PairingRequest, 'route'> {
  readonly route: string;
}

function readRequest(row: RequestRow): PairingRequest {
  const route = decodeCheckedJson(ReplyRoute, row.route, 'route of a pairing request');
  return { ...row, route };
}

const LOCK = defineStatement('lock table pairing_request in exclusive mode');

const FORGET_EXPIRED = defineStatement('delete from pairing_request where expires_at <= :now');

const APPLICANTS = defineStatement(`
  select sender_id as "senderId", refused from pairing_request
  where channel = :channel and account = :account`).rows<{
  readonly senderId: string;
  readonly refused: number;
}>();

const REQUEST = defineStatement(`
  insert into pairing_request (code, channel, account, sender_id, sender_name, route, expires_at)
  values (:code, :channel, :account, :senderId, :senderName, :route, :expiresAt)`);

const COLUMNS = `code, channel, account, sender_id as "senderId", sender_name as "senderName", route,
    expires_at as "expiresAt"`;

const PENDING = defineStatement(
  `select ${COLUMNS} from pairing_request where expires_at > :now and refused = 0 order by expires_at`,
).rows<RequestRow>();

const TAKE_REQUEST = defineStatement(`
  delete from pairing_request where code = :code and expires_at > :now
  returning ${COLUMNS}`).rows<RequestRow>();

const REFUSE = defineStatement(`
  update pairing_request set refused = 1 where code = :code and expires_at > :now and refused = 0
  returning ${COLUMNS}`).rows<RequestRow>();

const SETTLE = defineStatement(
  'delete from pairing_request where channel = :channel and sender_id = :senderId',
);

const ALLOW = defineStatement(`
  insert into allowed_sender (channel, account, sender_id, allowed_at)
  values (:channel, :account, :senderId, :now)
  on conflict do nothing`);

const IS_ALLOWED = defineStatement(`
  select allowed_at from allowed_sender
  where channel = :channel and account = :account and sender_id = :senderId`).rows<{
  readonly allowed_at: number;
}>();

/** A browser that is signed in to the page (U03). Times are in ms since the Unix epoch. */
export interface PageSession {
  readonly id: string;
  readonly hash: string;
  /**
   * Fingerprint of the access token that opened the session. The session is valid only while that
   * token is valid.
   */
  readonly openedWith: string;
  readonly userAgent: string;
  /** The network from which the browser signed in. */
  readonly network: 'this-machine' | 'local-network' | 'internet' | 'proxy';
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
}

/**
 * Browsers signed in to this deployment, stored in the `page_session` table. Expired sessions are
 * not returned. Gateways and `parley sessions` read and write this table.
 */
export type PageSessionRepository = ReturnType<typeof createPageSessionRepository>;

export function createPageSessionRepository(database: Database) {
  return {
    /** Adds a session and removes expired ones. */
    open: (session: PageSession): Promise<void> =>
      database.write(async (sql) => {
        sql.send(FORGET_EXPIRED_SESSIONS, { now: session.createdAt });
        sql.send(OPEN, session);
      }),

    find: (id: string, now: number): Promise<PageSession | null> =>
      database.read(async (sql) => (await sql.get(FIND, { id, now })) ?? null),

    list: (now: number): Promise<readonly PageSession[]> =>
      database.read((sql) => sql.all(LIST, { now })),

    /**
     * Records the use of a session and its new expiry. Does nothing if another gateway has recorded
     * a later use.
     */
    use: (use: Pick<PageSession, 'id' | 'usedAt' | 'expiresAt'>) =>
      database.change('process', USE, use),

    /** Ends one session or all of them, and returns the number of sessions ended. */
    end: (which: string | 'all'): Promise<number> =>
      which === 'all'
        ? database.change('power-cut', END_ALL)
        : database.change('power-cut', END, { id: which }),
  };
}

// Also requires that the sessions have expired according to the clock for data ages, which ignores
// temporary jumps (D15). If the clock is temporarily ahead, sessions are hidden during that time
// but not deleted.
const FORGET_EXPIRED_SESSIONS = defineStatement(`
  delete from page_session where expires_at <= :now
    and expires_at <= (select counted_to from retention_run)`);

const OPEN = defineStatement(`
  insert into page_session (id, hash, opened_with, user_agent, network, created_at, used_at, expires_at)
  values (:id, :hash, :openedWith, :userAgent, :network, :createdAt, :usedAt, :expiresAt)`);

const VALID_SESSIONS = `
  select id, hash, opened_with as "openedWith", user_agent as "userAgent", network,
    created_at as "createdAt", used_at as "usedAt", expires_at as "expiresAt"
  from page_session where expires_at > :now`;

const FIND = defineStatement(`${VALID_SESSIONS} and id = :id`).rows<PageSession>();

const LIST = defineStatement(`${VALID_SESSIONS} order by used_at desc, id`).rows<PageSession>();

const USE = defineStatement(`
  update page_session set used_at = :usedAt, expires_at = :expiresAt
  where id = :id and used_at < :usedAt`);

const END = defineStatement('delete from page_session where id = :id');

const END_ALL = defineStatement('delete from page_session');

/** A named person who may use the page and the API (U03). Times are in ms since the Unix epoch. */
export interface SignIn {
  readonly id: string;
  /** The hash of the access token. The token itself is shown once and never stored. */
  readonly hash: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  /** Null if the sign-in has never been used. */
  readonly usedAt: number | null;
}

/** The maximum number of sign-ins; Parley is meant for small teams. */
const MAX_SIGN_INS = 100;

/**
 * Named sign-ins, stored in the `sign_in` table, in addition to the token in the data folder.
 * Gateways and `parley people` read and write it; `page_session.opened_with` is the hash of the
 * token that opened a session.
 */
export type SignInRepository = ReturnType<typeof createSignInRepository>;

export function createSignInRepository(database: Database) {
  return {
    add: (signIn: SignIn): Promise<'added' | 'taken' | 'full'> =>
      database.write(async (sql) => {
        const known = await sql.all(LIST_SIGN_INS);
        if (known.length >= MAX_SIGN_INS) return 'full';
        // Names that differ only in case are easily confused.
        const name = signIn.name.toLowerCase();
        if (known.some((one) => one.name.toLowerCase() === name)) return 'taken';
        return (await sql.get(ADD_SIGN_IN, signIn)) === undefined ? 'taken' : 'added';
      }),

    /** Finds a sign-in by the hash of its token. */
    find: (hash: string): Promise<SignIn | null> =>
      database.read(async (sql) => (await sql.get(FIND_SIGN_IN, { hash })) ?? null),

    /** All sign-ins, sorted by name. */
    list: (): Promise<readonly SignIn[]> => database.read((sql) => sql.all(LIST_SIGN_INS)),

    /** Records the use of a sign-in. Does nothing if another gateway has recorded a later use. */
    use: (hash: string, now: number) => database.change('process', USE_SIGN_IN, { hash, now }),

    /**
     * Removes a sign-in and its sessions in one transaction. Returns null if no sign-in has this
     * name.
     */
    revoke: (name: string): Promise<{ readonly sessions: number } | null> =>
      database.write(async (sql) => {
        const revoked = await sql.get(REVOKE, { name });
        if (revoked === undefined) return null;
        return { sessions: (await sql.all(END_SESSIONS, revoked)).length };
      }),
  };
}

const SIGN_INS = `
  select id, hash, name, role, created_at as "createdAt", used_at as "usedAt" from sign_in`;

const ADD_SIGN_IN = defineStatement(`
  insert into sign_in (id, hash, name, role, created_at, used_at)
  values (:id, :hash, :name, :role, :createdAt, :usedAt)
  on conflict do nothing returning id`).rows<{ readonly id: string }>();

const FIND_SIGN_IN = defineStatement(`${SIGN_INS} where hash = :hash`).rows<SignIn>();

const LIST_SIGN_INS = defineStatement(`${SIGN_INS} order by name`).rows<SignIn>();

const USE_SIGN_IN = defineStatement(
  'update sign_in set used_at = :now where hash = :hash and (used_at is null or used_at < :now)',
);

const REVOKE = defineStatement('delete from sign_in where name = :name returning hash').rows<{
  readonly hash: string;
}>();

const END_SESSIONS = defineStatement(
  'delete from page_session where opened_with = :hash returning id',
).rows<{ readonly id: string }>();
