import { type NewId, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Database, Sql } from './database.ts';
import { fromCheckedJson, toJson } from './json-column.ts';
import { raw } from './kysely.ts';
import { insertParts } from './outbox-parts.ts';
import type { NewPart } from './rows.ts';

/** A stranger in a direct chat, and how to answer there. The name is untrusted. */
export interface PairingApplicant {
  readonly channel: string;
  readonly account: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly route: ReplyRoute;
}

/** A stranger who waits to be let in. */
export interface PairingRequest extends PairingApplicant {
  readonly code: string;
  readonly expiresAt: number;
}

const VALID_MS = 60 * 60_000;

const PENDING_PER_ACCOUNT = 3;

/**
 * Strangers who ask to be let in, and those who were (F05): the tables `pairing_request` and `let_in`. Ingress
 * and the command `/pair` write them, ingress reads them; all gateways see the same.
 */
export type PairingRepository = ReturnType<typeof pairingRepository>;

export function pairingRepository(database: Database, newId: NewId) {
  return {
    /**
     * Notes that a stranger wants in: one code per sender, the same while it is valid (1 h), at most 3
     * per account. `tell` is put into the outbox in the same transaction if `code` is taken, that is
     * at most once an hour per sender.
     */
    request: (
      applicant: PairingApplicant,
      code: string,
      tell: readonly NewPart[],
      now: number,
    ): Promise<'new' | 'known' | 'full'> =>
      database.write(async (sql) => {
        // Two strangers at once must not both take the last place.
        if (database.dialect === 'postgres') {
          await raw`lock table pairing_request in exclusive mode`.execute(sql);
        }
        await forgetExpired(sql, now);
        const { channel, account, senderId, senderName } = applicant;
        const pending = await sql
          .selectFrom('pairing_request')
          .select('sender_id')
          .where('channel', '=', channel)
          .where('account', '=', account)
          .execute();
        if (pending.some((row) => row.sender_id === senderId)) return 'known';
        if (pending.length >= PENDING_PER_ACCOUNT) return 'full';
        const row = { code, channel, account, sender_id: senderId, sender_name: senderName };
        const route = toJson(applicant.route);
        await sql
          .insertInto('pairing_request')
          .values({ ...row, route, expires_at: now + VALID_MS })
          .execute();
        insertParts(sql, tell, { turnId: null, now, newId });
        return 'new';
      }),

    /** Requests that are still valid, oldest first. */
    pending: (now: number) => database.read((sql) => pendingRequests(sql, now)),

    /**
     * Lets the sender of a valid code in for good and puts `welcome` into the outbox, in one
     * transaction; null when no request has that code.
     */
    approve: (
      code: string,
      welcome: (request: PairingRequest) => readonly NewPart[],
      now: number,
    ): Promise<PairingRequest | null> =>
      database.write(async (sql) => {
        const request = await approveRequest(sql, code, now);
        if (request !== null) {
          insertParts(sql, welcome(request), { turnId: null, now, newId });
        }
        return request;
      }),

    isLetIn: (channel: string, account: string, senderId: string): Promise<boolean> =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('let_in')
          .select('let_in_at')
          .where('channel', '=', channel)
          .where('account', '=', account)
          .where('sender_id', '=', senderId)
          .executeTakeFirst();
        return row !== undefined;
      }),
  };
}

/** Requests that are still valid, oldest first, inside the caller's transaction. */
export async function pendingRequests(sql: Sql, now: number): Promise<readonly PairingRequest[]> {
  const rows = await sql
    .selectFrom('pairing_request')
    .selectAll()
    .where('expires_at', '>', now)
    .orderBy('expires_at')
    .execute();
  return rows.map(readRequest);
}

/** Lets the sender of a valid code in, inside the caller's transaction; null when no code fits. */
export async function approveRequest(
  sql: Sql,
  code: string,
  now: number,
): Promise<PairingRequest | null> {
  const row = await sql
    .deleteFrom('pairing_request')
    .where('code', '=', code)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return null;
  const { channel, account, sender_id } = row;
  await sql
    .insertInto('let_in')
    .values({ channel, account, sender_id, let_in_at: now })
    .onConflict((conflict) => conflict.columns(['channel', 'account', 'sender_id']).doNothing())
    .execute();
  return readRequest(row);
}

async function forgetExpired(sql: Sql, now: number): Promise<void> {
  await sql.deleteFrom('pairing_request').where('expires_at', '<=', now).execute();
}

function readRequest(row: Selectable<PairingRequestTable>): PairingRequest {
  return {
    code: row.code,
    channel: row.channel,
    account: row.account,
    senderId: row.sender_id,
    senderName: row.sender_name,
    route: fromCheckedJson(ReplyRoute, row.route, 'route of a pairing request'),
    expiresAt: row.expires_at,
  };
}

/** Strangers who wait to be let in; `route` is JSON. */
export interface PairingRequestTable {
  code: string;
  channel: string;
  account: string;
  sender_id: string;
  sender_name: string;
  route: string;
  expires_at: number;
}

/** Strangers who were let in for good. */
export interface LetInTable {
  channel: string;
  account: string;
  sender_id: string;
  let_in_at: number;
}
