import * as sqlite from 'node:sqlite';

export * from 'node:sqlite';

/** What the product finds in the place of `node:sqlite`. Set before its modules are loaded. */
export const simulatedSqlite = { DatabaseSync: sqlite.DatabaseSync };

/** The class at the moment at which a module of the product is loaded. */
export const DatabaseSync: typeof sqlite.DatabaseSync = new Proxy(sqlite.DatabaseSync, {
  construct: (_, given) => Reflect.construct(simulatedSqlite.DatabaseSync, given),
});
