import { type Database, statement } from './database.ts';

/** What a person may do on the page and the API, the least first. */
export const ROLES = ['viewer', 'operator', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** A named person who may use the page and the API (U03). Times are ms since 1970. */
export interface SignIn {
  readonly id: string;
  /** Of the token, which is shown once and stored nowhere. */
  readonly hash: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  /** Null: never. */
  readonly usedAt: number | null;
}

/** More of them are refused: then it is no small team any more. */
const MOST_SIGN_INS = 100;

/**
 * Named sign-ins, table `sign_in`, besides the token of the data folder. Gateways and `parley people` write and read it;
 * `page_session.opened_with` is the hash of the token that a session was opened with.
 */
export type SignInRepository = ReturnType<typeof signInRepository>;

export function signInRepository(database: Database) {
  return {
    add: (signIn: SignIn): Promise<'added' | 'taken' | 'full'> =>
      database.write(async (sql) => {
        const known = await sql.all(LIST);
        if (known.length >= MOST_SIGN_INS) return 'full';
        // Two whose names differ in case alone would be taken for one.
        const name = signIn.name.toLowerCase();
        if (known.some((one) => one.name.toLowerCase() === name)) return 'taken';
        return (await sql.get(ADD, { ...signIn })) === undefined ? 'taken' : 'added';
      }),

    /** By the hash of its token. */
    find: (hash: string): Promise<SignIn | null> =>
      database.read(async (sql) => (await sql.get(FIND, { hash })) ?? null),

    /** By name. */
    list: (): Promise<readonly SignIn[]> => database.read((sql) => sql.all(LIST)),

    /** Notes a use; of no harm where another gateway has noted a later one. */
    use: (hash: string, now: number) => database.change('process', USE, { hash, now }),

    /** Removes a sign-in and its sessions, in one transaction; null: there is none of that name. */
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

const ADD = statement(`
  insert into sign_in (id, hash, name, role, created_at, used_at)
  values (:id, :hash, :name, :role, :createdAt, :usedAt)
  on conflict do nothing returning id`).rows<{ readonly id: string }>();

const FIND = statement(`${SIGN_INS} where hash = :hash`).rows<SignIn>();

const LIST = statement(`${SIGN_INS} order by name`).rows<SignIn>();

const USE = statement(
  'update sign_in set used_at = :now where hash = :hash and (used_at is null or used_at < :now)',
);

const REVOKE = statement('delete from sign_in where name = :name returning hash').rows<{
  readonly hash: string;
}>();

const END_SESSIONS = statement(
  'delete from page_session where opened_with = :hash returning id',
).rows<{ readonly id: string }>();
