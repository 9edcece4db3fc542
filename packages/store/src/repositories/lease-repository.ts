import type { Database, Sql } from '../database.ts';
import type { LeaseRepository } from '../leases.ts';

/** Leases on SQL. None of it must survive a power cut: then nobody is left who could hold an older epoch. */
export function leaseRepository(database: Database): LeaseRepository {
  return {
    acquire: (name, owner, now, leaseMs) =>
      database.writeUrgent((sql) => acquire(sql, { name, owner, now, leaseMs })),

    renew: ({ name, epoch }, until) =>
      database.writeUrgent(async (sql) => {
        const result = await sql
          .updateTable('lease')
          .set({ lease_until: until })
          .where('name', '=', name)
          .where('epoch', '=', epoch)
          .where('owner', 'is not', null)
          .executeTakeFirst();
        return result.numUpdatedRows > 0n;
      }),

    renewAll: (owner, names, until) =>
      database.writeUrgent(async (sql) => {
        if (names.length > 0) {
          await sql
            .updateTable('lease')
            .set({ lease_until: until })
            .where('owner', '=', owner)
            .where('name', 'in', names)
            // A query that was late must not shorten what a later one has prolonged.
            .where('lease_until', '<', until)
            .execute();
        }
        return sql
          .selectFrom('lease')
          .select(['name', 'epoch', 'owner', 'lease_until as until'])
          .orderBy('name')
          .execute();
      }),

    release: ({ name, epoch }, reservedUntil) =>
      database.write(async (sql) => {
        await sql
          .updateTable('lease')
          .set({ owner: null, lease_until: reservedUntil ?? null })
          .where('name', '=', name)
          .where('epoch', '=', epoch)
          .execute();
      }, 'process'),

    held: (now) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('lease')
          .select(['name', 'owner', 'lease_until'])
          .where('lease_until', '>', now)
          .orderBy('name')
          .execute();
        return rows.flatMap(({ name, owner, lease_until }) =>
          owner === null || lease_until === null ? [] : [{ name, owner, until: lease_until }],
        );
      }),
  };
}

interface Acquisition {
  readonly name: string;
  readonly owner: string;
  readonly now: number;
  readonly leaseMs: number;
}

/** One statement takes it or does not, so two who ask at once cannot both have it. */
async function acquire(
  sql: Sql,
  { name, owner, now, leaseMs }: Acquisition,
): ReturnType<LeaseRepository['acquire']> {
  const until = now + leaseMs;
  const taken = await sql
    .insertInto('lease')
    .values({ name, epoch: 1, owner, lease_until: until })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((eb) => ({ epoch: eb('lease.epoch', '+', 1), owner, lease_until: until }))
        .where((eb) => eb.or([eb('lease.owner', 'is', null), eb('lease.lease_until', '<=', now)])),
    )
    .returning('epoch')
    .executeTakeFirst();
  if (taken !== undefined) return { kind: 'held', lease: { name, epoch: taken.epoch } };
  const holder = await sql
    .selectFrom('lease')
    .select(['owner', 'lease_until'])
    .where('name', '=', name)
    .executeTakeFirst();
  const retryInMs = Math.max(1, (holder?.lease_until ?? now) - now);
  return { kind: 'busy', owner: holder?.owner ?? '', retryInMs };
}
