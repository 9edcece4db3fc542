import { type Database, statement, toJson } from './database.ts';

/** The right to do one thing that only one process may do at a time. */
export interface NamedLease {
  /** For example `account:telegram/default`. */
  readonly name: string;
  /** Fencing token: grows with every acquisition. */
  readonly epoch: number;
}

/** A row of the table: a lease that is held, or was. */
export interface LeaseRow {
  readonly name: string;
  readonly epoch: number;
  /** Null once it was released. */
  readonly owner: string | null;
  /** When it ends (ms since 1970); without an owner: until when it is reserved for a successor. */
  readonly until: number | null;
}

/** Who holds what, for people. */
export interface HeldLease {
  readonly name: string;
  readonly owner: string;
  /** When it ends unless it is renewed (ms since 1970). */
  readonly until: number;
}

/** `busy`: who holds it, also when that is the asker, and how long (ms) it still runs. */
type Acquired =
  | { readonly kind: 'held'; readonly lease: NamedLease }
  | { readonly kind: 'busy'; readonly owner: string; readonly retryInMs: number };

/**
 * Leases by name: a dead process loses them after a while. Times are those of the callers, so their
 * clocks must agree to a fraction of the lease.
 */
export type LeaseRepository = ReturnType<typeof leaseRepository>;

/**
 * The table `lease`. None of it must survive a power cut: then no process is left that could hold an
 * older epoch.
 */
export function leaseRepository(database: Database) {
  return {
    /** Takes the lease if it is free or has run out; a reservation is for the caller to respect. */
    acquire: (name: string, owner: string, now: number, leaseMs: number): Promise<Acquired> =>
      database.writeUrgent(async (sql) => {
        // One statement takes it or does not, so two who ask at once cannot both have it.
        const taken = await sql.get(ACQUIRE, { name, owner, now, until: now + leaseMs });
        if (taken !== undefined) return { kind: 'held', lease: { name, epoch: taken.epoch } };
        const holder = await sql.get(HOLDER, { name });
        const retryInMs = Math.max(1, (holder?.until ?? now) - now);
        return { kind: 'busy', owner: holder?.owner ?? '', retryInMs };
      }),

    /** Prolongs the lease; false when it was lost. */
    renew: ({ name, epoch }: NamedLease, until: number): Promise<boolean> =>
      database.writeUrgent(async (sql) => (await sql.run(RENEW, { name, epoch, until })) > 0),

    /** Prolongs leases of one owner, those that were lost excepted, and returns the whole table as it is then. */
    renewAll: (
      owner: string,
      names: readonly string[],
      until: number,
    ): Promise<readonly LeaseRow[]> =>
      database.writeUrgent((sql) => {
        if (names.length > 0) sql.send(RENEW_ALL, { owner, names: toJson(names), until });
        return sql.all(ALL);
      }),

    /** Releases it, to a successor alone before `reservedUntil`; harmless when it was lost. */
    async release({ name, epoch }: NamedLease, reservedUntil?: number): Promise<void> {
      const params = { name, epoch, reservedUntil: reservedUntil ?? null };
      await database.change('process', RELEASE, params);
    },

    /** What is held at `now`, by name. */
    held: (now: number): Promise<readonly HeldLease[]> =>
      database.read((sql) => sql.all(HELD, { now })),
  };
}

const ACQUIRE = statement(`
  insert into lease (name, epoch, owner, lease_until) values (:name, 1, :owner, :until)
  on conflict (name) do update
    set epoch = lease.epoch + 1, owner = excluded.owner, lease_until = excluded.lease_until
    where lease.owner is null or lease.lease_until <= :now
  returning epoch`).rows<{ readonly epoch: number }>();

const HOLDER = statement('select owner, lease_until as until from lease where name = :name').rows<
  Pick<LeaseRow, 'owner' | 'until'>
>();

const RENEW = statement(`
  update lease set lease_until = :until where name = :name and epoch = :epoch and owner is not null`);

// A query that was late must not shorten what a later one has prolonged.
const RENEW_ALL = statement(`
  update lease set lease_until = :until where owner = :owner
    and name in (select value from json_each(:names)) and lease_until < :until`);

const ALL = statement(
  'select name, epoch, owner, lease_until as until from lease order by name',
).rows<LeaseRow>();

const RELEASE = statement(`
  update lease set owner = null, lease_until = :reservedUntil where name = :name and epoch = :epoch`);

const HELD = statement(`
  select name, owner, lease_until as until from lease
  where lease_until > :now and owner is not null order by name`).rows<HeldLease>();
