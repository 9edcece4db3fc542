import type { AdapterValues } from '@parley/core';
import { z } from 'zod';
import {
  type Database,
  decodeCheckedJson,
  defineStatement,
  encodeJson,
  type Sql,
  StoreError,
} from './database.ts';
import { SHARED_NOW, type SharedClock, STATEMENT_NOW } from './shared-clock.ts';
import type { StoreState } from './store-state.ts';

/** The role of a process: channels and web server, turns, or both. */
export type ProcessRole = 'all' | 'gateway' | 'worker';

/**
 * A process whose row is older than this counts as gone, in ms; each process renews its row every
 * few seconds.
 */
const PROCESS_GONE_AFTER_MS = 15_000;

/** Values that must be the same in all processes of a deployment. */
export const ProcessInfo = z.object({
  agent: z.string(),
  /** The id stored in the workspace folder; null if the folder cannot be read. */
  workspace: z.string().nullable(),
  /** A hash of each settings section, without secrets and machine-specific values. */
  settings: z.record(z.string(), z.string()),
  /** How far the process's clock is ahead of the database's, in ms. */
  clockAheadMs: z.number(),
});

export type ProcessInfo = Readonly<z.infer<typeof ProcessInfo>>;

/** A process in the deployment, as the other processes see it. */
export interface RunningProcess {
  readonly id: string;
  readonly role: ProcessRole;
  /** The name of the process's machine, and its process id there. */
  readonly host: string;
  readonly pid: number;
  /** The address at which the process's web server listens, for example `http://127.0.0.1:7411`. */
  readonly address: string;
  readonly version: string;
  /** When the process was first recorded, on the clock that all processes share. */
  readonly startedAt: number;
  readonly facts?: ProcessInfo;
}

/** The outcome of a process's heartbeat. */
type HeartbeatResult =
  | { readonly kind: 'noted'; readonly time: number }
  | { readonly kind: 'outdated'; readonly newer: string };

/** The processes that share this database, shown to people and used to find a gateway. */
export function createProcessRepository(
  database: Database,
  newerParley: (sql: Sql) => Promise<string | null>,
  sharedClock: SharedClock,
  state: StoreState,
) {
  return {
    /**
     * Reads the time of the database's clock, in ms since the Unix epoch; on SQLite, this machine's
     * clock.
     */
    async time(): Promise<number> {
      return (await database.read((sql) => sql.get(TIME)))?.time ?? 0;
    },

    /**
     * Records that a process is running, and removes rows that were not renewed for a day. Returns
     * the time of the database's clock, or reports, without writing, that a newer version of Parley
     * has changed the schema.
     */
    async heartbeat({
      facts,
      ...about
    }: Omit<RunningProcess, 'startedAt'>): Promise<HeartbeatResult> {
      const before = state.seen;
      const { result, raised } = await database.write(async (sql) => {
        const newer = await newerParley(sql);
        if (newer !== null) return { result: { kind: 'outdated', newer } as const };
        const moment = sharedClock();
        sql.send(FORGET, { moment });
        const json = facts === undefined ? null : encodeJson(facts);
        const recorded = sql.get(RECORD, { ...about, moment, facts: json });
        const [row, raised] = await Promise.all([recorded, state.raise(sql)]);
        return { result: { kind: 'noted', time: row?.time ?? 0 } as const, raised };
      }, 'process');
      if (raised !== undefined) await state.judge(before, raised);
      return result;
    },

    /** Removes a process's row when it shuts down. */
    async leave(id: string): Promise<void> {
      await database.change('process', LEAVE, { id });
    },

    /** Lists the processes whose rows were renewed recently, oldest first. */
    async list(): Promise<readonly RunningProcess[]> {
      const rows = await database.read((sql) => sql.all(LIST, { moment: sharedClock() }));
      return rows.map(({ facts, ...about }) => ({
        ...about,
        ...(facts !== null && {
          facts: decodeCheckedJson(ProcessInfo, facts, 'shared values of a process'),
        }),
      }));
    },
  };
}

const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

interface TimeRow {
  readonly time: number;
}

const CLOCK = `/*sqlite cast(unixepoch('subsec') * 1000 as integer)*/
  /*pg cast(extract(epoch from clock_timestamp()) * 1000 as float8)*/ as time` as const;

const TIME = defineStatement(`select ${CLOCK}`).rows<TimeRow>();

const RECORD = defineStatement(`
  insert into process (id, role, host, pid, address, version, started_at, seen_at, facts)
  values (:id, :role, :host, :pid, :address, :version, ${SHARED_NOW}, ${SHARED_NOW}, :facts)
  on conflict (id) do update set role = excluded.role, host = excluded.host, pid = excluded.pid,
    address = excluded.address, version = excluded.version, seen_at = excluded.seen_at, facts = excluded.facts
  returning ${CLOCK}`).rows<TimeRow>();

const FORGET = defineStatement(
  `delete from process where seen_at < ${SHARED_NOW} - ${FORGOTTEN_AFTER_MS}`,
);

const LEAVE = defineStatement('delete from process where id = :id');

// A row dated in the future belongs to a process that has not renewed it since the clock was set
// back.
const LIST = defineStatement(`
  select id, role, host, pid, address, version, started_at as "startedAt", facts from process
  where seen_at between ${SHARED_NOW} - ${PROCESS_GONE_AFTER_MS} and ${SHARED_NOW} + ${PROCESS_GONE_AFTER_MS}
  order by started_at, id`).rows<
  Omit<RunningProcess, 'facts'> & { readonly facts: string | null }
>();

/** The right to do work that only one process may do at a time. */
export interface NamedLease {
  /** For example `account:telegram/default`. */
  readonly name: string;
  /** Fencing token, which grows with every acquisition. */
  readonly epoch: number;
}

/** A row in the `lease` table: a current or former lease. */
export interface LeaseRow {
  readonly name: string;
  readonly epoch: number;
  /** Null once the lease has been released. */
  readonly owner: string | null;
  /**
   * The remaining time in ms, 0 or less if the lease has expired; if there is no owner, the
   * remaining reservation for a successor.
   */
  readonly leftMs: number | null;
}

/** A lease and its holder, as shown to people. */
interface HeldLease {
  readonly name: string;
  readonly owner: string;
  /** The time until the lease expires unless it is renewed, in ms. */
  readonly leftMs: number;
}

/** `busy`: who holds the lease (possibly the caller), and for how many more ms. */
type AcquireResult =
  | { readonly kind: 'held'; readonly lease: NamedLease }
  | { readonly kind: 'busy'; readonly owner: string; readonly retryInMs: number };

/**
 * Leases by name; a lease expires some time after its process crashes. Lease times use the clock
 * that the processes share, never a caller's clock.
 */
export type LeaseRepository = ReturnType<typeof createLeaseRepository>;

/**
 * The `lease` table need not survive a power cut, because afterwards no process is left that could
 * hold an older epoch.
 */
export function createLeaseRepository(
  database: Database,
  sharedClock: SharedClock,
  state: StoreState,
) {
  return {
    /**
     * Acquires the lease if it is free or has expired; callers must respect reservations
     * themselves. A lease that ends later than `leaseMs` from now was taken before the clock was
     * set back, and is shortened to `leaseMs`.
     */
    acquire: (name: string, owner: string, leaseMs: number): Promise<AcquireResult> =>
      database.writePriority(async (sql) => {
        const moment = sharedClock();
        // A single statement makes the decision, so two simultaneous callers cannot both get the
        // lease.
        const taken = await sql.get(ACQUIRE, { name, owner, moment, leaseMs });
        if (taken !== undefined) return { kind: 'held', lease: { name, epoch: taken.epoch } };
        const holder = await sql.get(HOLDER, { name, moment });
        const leftMs = holder?.leftMs ?? 0;
        if (leftMs > leaseMs) sql.send(SHORTEN, { names: encodeJson([name]), moment, leaseMs });
        const retryInMs = Math.max(1, Math.min(leftMs, leaseMs));
        return { kind: 'busy', owner: holder?.owner ?? '', retryInMs };
      }),

    /**
     * Renews the lease so that it ends `leaseMs` from now, even if it would otherwise have ended
     * later; returns false if the lease was lost.
     */
    renew: (lease: NamedLease, leaseMs: number): Promise<boolean> =>
      database.writePriority(
        async (sql) => (await sql.run(RENEW, { ...lease, leaseMs, moment: sharedClock() })) > 0,
      ),

    /**
     * Renews one owner's leases except those that were lost, and returns the whole table. Rejects
     * if the database was rolled back and the affected work could not be set aside.
     */
    async renewAll(
      owner: string,
      names: readonly string[],
      leaseMs: number,
    ): Promise<readonly LeaseRow[]> {
      const before = state.seen;
      const [rows, raised] = await database.writePriority((sql) => {
        const moment = sharedClock();
        if (names.length > 0) {
          sql.send(RENEW_ALL, { owner, names: encodeJson(names), leaseMs, moment });
        }
        return Promise.all([sql.all(ALL, { moment }), state.raise(sql)]);
      });
      await state.judge(before, raised);
      return rows;
    },

    /**
     * Shortens leases or reservations to `leaseMs`, because the clock was set back after they were
     * made.
     */
    shorten: (names: readonly string[], leaseMs: number): Promise<number> =>
      database.writePriority((sql) =>
        sql.run(SHORTEN, { names: encodeJson(names), leaseMs, moment: sharedClock() }),
      ),

    /**
     * Releases the lease, optionally reserved for a successor for `reservedMs`; has no effect if
     * the lease was lost.
     */
    async release(lease: NamedLease, reservedMs: number | null = null): Promise<void> {
      await database.change('process', RELEASE, { ...lease, reservedMs, moment: sharedClock() });
    },

    /** Ends every lease; only for a process with exclusive use of the data folder, at startup. */
    async releaseAll(): Promise<void> {
      await database.change('process', RELEASE_ALL);
    },

    /** Lists the leases that are currently held, by name. */
    held: (): Promise<readonly HeldLease[]> =>
      database.read((sql) => sql.all(HELD, { moment: sharedClock() })),
  };
}

const ACQUIRE = defineStatement(`
  insert into lease (name, epoch, owner, lease_until) values (:name, 1, :owner, ${SHARED_NOW} + :leaseMs)
  on conflict (name) do update
    set epoch = lease.epoch + 1, owner = excluded.owner, lease_until = excluded.lease_until
    where lease.owner is null or lease.lease_until <= ${SHARED_NOW}
  returning epoch`).rows<{ readonly epoch: number }>();

const LEFT = `lease_until - ${STATEMENT_NOW} as "leftMs"` as const;

const HOLDER = defineStatement(`select owner, ${LEFT} from lease where name = :name`).rows<
  Pick<LeaseRow, 'owner' | 'leftMs'>
>();

const RENEW = defineStatement(`
  update lease set lease_until = ${SHARED_NOW} + :leaseMs
  where name = :name and epoch = :epoch and owner is not null`);

const RENEW_ALL = defineStatement(`
  update lease set lease_until = ${SHARED_NOW} + :leaseMs where owner = :owner
    and name in (select value from json_each(:names))`);

const ALL = defineStatement(
  `select name, epoch, owner, ${LEFT} from lease order by name`,
).rows<LeaseRow>();

const SHORTEN = defineStatement(`
  update lease set lease_until = ${STATEMENT_NOW} + :leaseMs
  where name in (select value from json_each(:names)) and lease_until > ${STATEMENT_NOW} + :leaseMs`);

const RELEASE = defineStatement(`
  update lease set owner = null, lease_until = ${SHARED_NOW} + :reservedMs
  where name = :name and epoch = :epoch`);

const RELEASE_ALL = defineStatement(
  'update lease set owner = null, lease_until = null where owner is not null or lease_until is not null',
);

const HELD = defineStatement(`
  select name, owner, ${LEFT} from lease
  where lease_until > ${SHARED_NOW} and owner is not null order by name`).rows<HeldLease>();

/**
 * The adapter values stored for one account. Once another process has taken over the lease, the
 * values are read-only: `set` and `clear` throw StoreError `store-fenced`.
 */
export function createAdapterValueStore(
  database: Database,
  { channel, account, lease }: AdapterStateKey,
): AdapterValues {
  const place = { channel, account };
  const fence = { lease: lease?.name ?? null, epoch: lease?.epoch ?? null };
  const write = (change: (sql: Sql) => void): Promise<void> =>
    database.write(async (sql) => {
      change(sql);
      if ((await sql.get(LEASE_HOLDS, fence)) === undefined) throw createFencedError(lease);
    });
  return {
    async get(kind, ids) {
      const rows = await database.read((sql) =>
        sql.all(GET_VALUES, { ...place, kind, ids: encodeJson(ids) }),
      );
      return new Map(rows.map(({ id, value }) => [id, value]));
    },
    async set(changes) {
      const [{ kind, id, value } = NO_CHANGE, ...others] = changes;
      if (value !== null && others.length === 0) {
        // Uses a single statement, so that this process cannot be paused between checking the lease
        // and committing.
        const params = { ...place, ...fence, kind, id, value };
        if ((await database.change('power-cut', SET_VALUE, params)) === 0)
          throw createFencedError(lease);
      } else if (changes.length > 0) {
        await write((sql) => {
          for (const change of changes) {
            const { value, ...at } = change;
            if (value === null) sql.send(REMOVE_VALUE, { ...place, ...at });
            else sql.send(SET_VALUE, { ...place, ...fence, ...at, value });
          }
        });
      }
    },
    clear: () => write((sql) => sql.send(CLEAR_VALUES, place)),
  };
}

const NO_CHANGE = { kind: '', id: '', value: null };

function createFencedError(lease: NamedLease | null): StoreError {
  return new StoreError('store-fenced', `${lease?.name} is now held by another process.`);
}

interface AdapterStateKey {
  readonly channel: string;
  readonly account: string;
  /** The account's lease; null if no other gateway could serve the account. */
  readonly lease: NamedLease | null;
}

const OF_ACCOUNT = 'channel = :channel and account = :account';

/** SQL condition: the lease is held, or `:lease` is null because none is needed. */
export const HAS_LEASE = `(exists (select 1 from lease
  where lease.name = :lease and lease.epoch = :epoch and lease.owner is not null) or :lease is null)`;

const LEASE_HOLDS = defineStatement(`select 1 as held where ${HAS_LEASE}`).rows<{
  readonly held: number;
}>();

const GET_VALUES = defineStatement(`
  select id, value from adapter_state
  where ${OF_ACCOUNT} and kind = :kind and id in (select value from json_each(:ids))`).rows<{
  readonly id: string;
  readonly value: string;
}>();

const SET_VALUE = defineStatement(`
  insert into adapter_state (channel, account, kind, id, value)
  select :channel, :account, :kind, :id, :value where ${HAS_LEASE}
  on conflict (channel, account, kind, id) do update set value = excluded.value`);

const REMOVE_VALUE = defineStatement(
  `delete from adapter_state where ${OF_ACCOUNT} and kind = :kind and id = :id`,
);

const CLEAR_VALUES = defineStatement(`delete from adapter_state where ${OF_ACCOUNT}`);
