import * as sqlite from 'node:sqlite';

export * from 'node:sqlite';

/**
 * What the product imports instead of `node:sqlite`. Must be set before the product's modules are
 * loaded.
 */
export const simulatedSqlite = { DatabaseSync: sqlite.DatabaseSync };

/** Resolves to the class that is current when a module of the product is loaded. */
export const DatabaseSync: typeof sqlite.DatabaseSync = new Proxy(sqlite.DatabaseSync, {
  construct: (_, given) => Reflect.construct(simulatedSqlite.DatabaseSync, given),
});
