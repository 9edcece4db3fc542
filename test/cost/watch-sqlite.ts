import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LoggedStatement } from './statement-log.ts';

const RUNS = ['run', 'all', 'get', 'iterate'] as const;

/**
 * Records the statements of the databases in this process until `stop`: databases in files are
 * called `store`, databases in memory `queue`. Only `node:sqlite` itself is replaced.
 */
export function watchSqlite(): { readonly asked: readonly LoggedStatement[]; stop(): void } {
  const asked: LoggedStatement[] = [];
  const texts = new WeakMap<StatementSync, LoggedStatement>();
  const undo: (() => void)[] = [];
  const wrap = <K extends string>(
    prototype: Record<K, (...given: never[]) => unknown>,
    name: K,
    around: (self: object, inner: () => unknown, given: readonly unknown[]) => unknown,
  ): void => {
    const original = prototype[name];
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: object, ...given: never[]) {
        return around(this, () => Reflect.apply(original, this, given), given);
      },
    });
    undo.push(() => Object.defineProperty(prototype, name, { value: original }));
  };
  const nameOf = (database: DatabaseSync): string =>
    database.location() === null ? 'queue' : 'store';
  wrap(DatabaseSync.prototype, 'prepare', (self, inner, [text]) => {
    const statement = inner();
    if (statement instanceof StatementSync && self instanceof DatabaseSync)
      texts.set(statement, { connection: nameOf(self), text: String(text) });
    return statement;
  });
  wrap(DatabaseSync.prototype, 'exec', (self, inner, [text]) => {
    if (self instanceof DatabaseSync) asked.push({ connection: nameOf(self), text: String(text) });
    return inner();
  });
  for (const name of RUNS) {
    wrap(StatementSync.prototype, name, (self, inner) => {
      const known = self instanceof StatementSync ? texts.get(self) : undefined;
      if (known !== undefined) asked.push(known);
      return inner();
    });
  }
  return {
    asked,
    stop() {
      for (const one of undo.reverse()) one();
    },
  };
}
