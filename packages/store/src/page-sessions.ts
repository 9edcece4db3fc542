import type { Database } from './database.ts';

/** Signed-in browsers; `hash` is that of the secret, which only the browser has. */
interface PageSessionTable {
  id: string;
  hash: string;
  /** Names the token that it was opened with. */
  opened_with: string;
  user_agent: string;
  network: PageSession['network'];
  created_at: number;
  used_at: number;
  expires_at: number;
}

/** Tables of this file. Gateways and `parley sessions` write and read them. */
export interface PageSessionTables {
  page_session: PageSessionTable;
}

/** A browser that is signed in to the page (U03). Times are ms since 1970. */
export interface PageSession {
  readonly id: string;
  readonly hash: string;
  /** Fingerprint of the token that it was opened with: it is good for as long as that token is. */
  readonly openedWith: string;
  /** What the browser says of itself. */
  readonly userAgent: string;
  /** Where it signed in from. */
  readonly network: 'this-machine' | 'local-network' | 'internet' | 'proxy';
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
}

/** The signed-in browsers of a deployment; expired ones are not found. */
export type PageSessionRepository = ReturnType<typeof pageSessionRepository>;

export function pageSessionRepository(database: Database) {
  return {
    /** Adds a session, and removes those that have expired. */
    open: (session: PageSession): Promise<void> =>
      database.write(async (sql) => {
        await sql.deleteFrom('page_session').where('expires_at', '<=', session.createdAt).execute();
        await sql.insertInto('page_session').values(rowOf(session)).execute();
      }),

    find: (id: string, now: number): Promise<PageSession | null> =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('page_session')
          .selectAll()
          .where('id', '=', id)
          .where('expires_at', '>', now)
          .executeTakeFirst();
        return row === undefined ? null : sessionOf(row);
      }),

    /** The last used first. */
    list: (now: number): Promise<readonly PageSession[]> =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('page_session')
          .selectAll()
          .where('expires_at', '>', now)
          .orderBy('used_at', 'desc')
          .orderBy('id')
          .execute();
        return rows.map(sessionOf);
      }),

    /** Notes a use and what follows from it; of no harm where another gateway has noted a later one. */
    use: ({ id, usedAt, expiresAt }: Pick<PageSession, 'id' | 'usedAt' | 'expiresAt'>) =>
      database.write(async (sql) => {
        await sql
          .updateTable('page_session')
          .set({ used_at: usedAt, expires_at: expiresAt })
          .where('id', '=', id)
          .where('used_at', '<', usedAt)
          .execute();
      }, 'process'),

    /** Ends one session, or all of them; returns how many there were. */
    end: (which: string | 'all'): Promise<number> =>
      database.write(async (sql) => {
        const all = sql.deleteFrom('page_session');
        const query = which === 'all' ? all : all.where('id', '=', which);
        const { numDeletedRows } = await query.executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      }),
  };
}

function rowOf({ openedWith, userAgent, createdAt, usedAt, expiresAt, ...same }: PageSession) {
  return {
    ...same,
    opened_with: openedWith,
    user_agent: userAgent,
    created_at: createdAt,
    used_at: usedAt,
    expires_at: expiresAt,
  };
}

function sessionOf(row: PageSessionTable): PageSession {
  const { opened_with, user_agent, created_at, used_at, expires_at, ...same } = row;
  return {
    ...same,
    openedWith: opened_with,
    userAgent: user_agent,
    createdAt: created_at,
    usedAt: used_at,
    expiresAt: expires_at,
  };
}
