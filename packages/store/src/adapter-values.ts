import type { AdapterValue, AdapterValues } from '@parley/contracts';
import type { Database, Sql } from './database.ts';

/** Both databases take more parameters than this in one statement; four go into a row. */
const ROWS_PER_STATEMENT = 200;

/** The values of one account on SQL. */
export function adapterValues(database: Database, channel: string, account: string): AdapterValues {
  const place = { channel, account };
  return {
    async get(kind, ids) {
      const found = new Map<string, string>();
      for (const some of chunks(ids)) {
        const rows = await database.read((sql) =>
          sql
            .selectFrom('adapter_value')
            .select(['id', 'value'])
            .where('channel', '=', channel)
            .where('account', '=', account)
            .where('kind', '=', kind)
            .where('id', 'in', some)
            .execute(),
        );
        for (const { id, value } of rows) found.set(id, value);
      }
      return found;
    },
    async set(changes) {
      const last = lastOfEach(changes);
      if (last.length === 0) return;
      await database.write(async (sql) => {
        for (const some of chunks(last)) await writeSome(sql, place, some);
      });
    },
    async clear() {
      await database.write((sql) =>
        sql
          .deleteFrom('adapter_value')
          .where('channel', '=', channel)
          .where('account', '=', account)
          .execute(),
      );
    },
  };
}

interface Place {
  readonly channel: string;
  readonly account: string;
}

async function writeSome(sql: Sql, place: Place, changes: readonly AdapterValue[]): Promise<void> {
  const kept = changes.flatMap(({ kind, id, value }) =>
    value === null ? [] : [{ ...place, kind, id, value }],
  );
  if (kept.length > 0) {
    await sql
      .insertInto('adapter_value')
      .values(kept)
      .onConflict((conflict) =>
        conflict
          .columns(['channel', 'account', 'kind', 'id'])
          .doUpdateSet((excluded) => ({ value: excluded.ref('excluded.value') })),
      )
      .execute();
  }
  for (const { kind, id, value } of changes) {
    if (value !== null) continue;
    await sql
      .deleteFrom('adapter_value')
      .where('channel', '=', place.channel)
      .where('account', '=', place.account)
      .where('kind', '=', kind)
      .where('id', '=', id)
      .execute();
  }
}

/** One statement may not write a row twice. */
function lastOfEach(changes: readonly AdapterValue[]): AdapterValue[] {
  return [...new Map(changes.map((change) => [`${change.kind}\n${change.id}`, change])).values()];
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / ROWS_PER_STATEMENT);
  return Array.from({ length: count }, (_, at) =>
    all.slice(at * ROWS_PER_STATEMENT, (at + 1) * ROWS_PER_STATEMENT),
  );
}

/** What adapters remember; `value` is theirs to understand. */
export interface AdapterValueTable {
  channel: string;
  account: string;
  kind: string;
  id: string;
  value: string;
}
