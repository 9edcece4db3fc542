import { type Database, statement } from './database.ts';

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

/**
 * The signed-in browsers of a deployment, table `page_session`; expired ones are not found. Gateways and `parley
 * sessions` write and read it.
 */
export type PageSessionRepository = ReturnType<typeof pageSessionRepository>;

export function pageSessionRepository(database: Database) {
  return {
    /** Adds a session, and removes those that have expired. */
    open: (session: PageSession): Promise<void> =>
      database.write(async (sql) => {
        sql.send(FORGET_EXPIRED, { now: session.createdAt });
        sql.send(OPEN, { ...session });
      }),

    find: (id: string, now: number): Promise<PageSession | null> =>
      database.read(async (sql) => (await sql.get(FIND, { id, now })) ?? null),

    /** The last used first. */
    list: (now: number): Promise<readonly PageSession[]> =>
      database.read((sql) => sql.all(LIST, { now })),

    /** Notes a use and what follows from it; of no harm where another gateway has noted a later one. */
    use: ({ id, usedAt, expiresAt }: Pick<PageSession, 'id' | 'usedAt' | 'expiresAt'>) =>
      database.change('process', USE, { id, usedAt, expiresAt }),

    /** Ends one session, or all of them; returns how many there were. */
    end: (which: string | 'all'): Promise<number> =>
      which === 'all'
        ? database.change('power-cut', END_ALL)
        : database.change('power-cut', END, { id: which }),
  };
}

const FORGET_EXPIRED = statement('delete from page_session where expires_at <= :now');

const OPEN = statement(`
  insert into page_session (id, hash, opened_with, user_agent, network, created_at, used_at, expires_at)
  values (:id, :hash, :openedWith, :userAgent, :network, :createdAt, :usedAt, :expiresAt)`);

const VALID = `
  select id, hash, opened_with as "openedWith", user_agent as "userAgent", network,
    created_at as "createdAt", used_at as "usedAt", expires_at as "expiresAt"
  from page_session where expires_at > :now`;

const FIND = statement(`${VALID} and id = :id`).rows<PageSession>();

const LIST = statement(`${VALID} order by used_at desc, id`).rows<PageSession>();

const USE = statement(`
  update page_session set used_at = :usedAt, expires_at = :expiresAt
  where id = :id and used_at < :usedAt`);

const END = statement('delete from page_session where id = :id');

const END_ALL = statement('delete from page_session');
