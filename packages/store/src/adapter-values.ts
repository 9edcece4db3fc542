import type { AdapterValues } from '@parley/core';
import { type Database, type Sql, StoreError, statement, toJson } from './database.ts';
import type { NamedLease } from './leases.ts';

/**
 * The values of one account on SQL. Under a lease that another process has taken over they are only read:
 * `set` and `clear` throw StoreError `store-fenced`.
 */
export function adapterValues(
  database: Database,
  { channel, account, lease }: AdapterValuesPlace,
): AdapterValues {
  const place = { channel, account };
  const fence = { lease: lease?.name ?? null, epoch: lease?.epoch ?? null };
  const write = (change: (sql: Sql) => void): Promise<void> =>
    database.write(async (sql) => {
      change(sql);
      if ((await sql.get(HELD, fence)) === undefined) throw fenced(lease);
    });
  return {
    async get(kind, ids) {
      const rows = await database.read((sql) => sql.all(GET, { ...place, kind, ids: toJson(ids) }));
      return new Map(rows.map(({ id, value }) => [id, value]));
    },
    async set(changes) {
      const [{ kind, id, value } = NO_CHANGE, ...others] = changes;
      if (value !== null && others.length === 0) {
        // One statement: no pause of this process can lie between its look at the lease and its commit.
        const params = { ...place, ...fence, kind, id, value };
        if ((await database.change('power-cut', SET, params)) === 0) throw fenced(lease);
      } else if (changes.length > 0) {
        await write((sql) => {
          for (const change of changes) {
            const { value, ...at } = change;
            if (value === null) sql.send(REMOVE, { ...place, ...at });
            else sql.send(SET, { ...place, ...fence, ...at, value });
          }
        });
      }
    },
    clear: () => write((sql) => sql.send(CLEAR, place)),
  };
}

const NO_CHANGE = { kind: '', id: '', value: null };

function fenced(lease: NamedLease | null): StoreError {
  return new StoreError('store-fenced', `${lease?.name} is held by another process now.`);
}

interface AdapterValuesPlace {
  readonly channel: string;
  readonly account: string;
  /** Of the account; null where no other gateway can serve it. */
  readonly lease: NamedLease | null;
}

const OF_ACCOUNT = 'channel = :channel and account = :account';

const HAS_LEASE = `(exists (select 1 from lease
  where lease.name = :lease and lease.epoch = :epoch and lease.owner is not null) or :lease is null)`;

const HELD = statement(`select 1 as held where ${HAS_LEASE}`).rows<{ readonly held: number }>();

const GET = statement(`
  select id, value from adapter_value
  where ${OF_ACCOUNT} and kind = :kind and id in (select value from json_each(:ids))`).rows<{
  readonly id: string;
  readonly value: string;
}>();

const SET = statement(`
  insert into adapter_value (channel, account, kind, id, value)
  select :channel, :account, :kind, :id, :value where ${HAS_LEASE}
  on conflict (channel, account, kind, id) do update set value = excluded.value`);

const REMOVE = statement(
  `delete from adapter_value where ${OF_ACCOUNT} and kind = :kind and id = :id`,
);

const CLEAR = statement(`delete from adapter_value where ${OF_ACCOUNT}`);
