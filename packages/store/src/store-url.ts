import { isAbsolute, normalize } from 'node:path';
import { StoreError } from './store-error.ts';

/** Where the database is. `name` may be shown to people: it holds no password. */
export type StoreAddress =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly name: string }
  | { readonly dialect: 'postgres'; readonly url: string; readonly name: string };

/** The path by which SQLite knows a database that lives in memory only. */
export const IN_MEMORY = ':memory:';

/**
 * Reads `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://user@host/database`.
 * Throws StoreError `store-url` for anything else; a relative path would depend on who starts us.
 */
export function parseStoreUrl(url: string): StoreAddress {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    if (path === IN_MEMORY) return { dialect: 'sqlite', path, name: 'database in memory' };
    if (!isAbsolute(path)) throw badUrl(`The SQLite path "${path}" is not absolute.`);
    return { dialect: 'sqlite', path: normalize(path), name: normalize(path) };
  }
  if (!/^postgres(ql)?:\/\//.test(url)) throw badUrl('The database URL has no known scheme.');
  if (!URL.canParse(url)) throw badUrl('The PostgreSQL URL cannot be read.');
  const { host, pathname } = new URL(url);
  return { dialect: 'postgres', url, name: `postgres://${host}${pathname}` };
}

// The URL itself may hold a password, so it is not repeated.
function badUrl(what: string): StoreError {
  const advice = 'Write sqlite:/absolute/path/parley.db or postgres://user:password@host/database.';
  return new StoreError('store-url', `${what} ${advice}`);
}
