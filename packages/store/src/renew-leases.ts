import { type Database, defineStatement, encodeJson, selectJsonItem } from './database.ts';
import type { Lease } from './rows.ts';
import { SHARED_NOW } from './shared-clock.ts';

/**
 * The number of leases per query: far below the query size limit, but far above the number that one
 * worker holds.
 */
const AT_ONCE = 200;

/**
 * Renewal does not wait for locked rows, because a transaction that holds many leases could
 * deadlock with another transaction. Rows that are currently locked are skipped and renewed next
 * time.
 */
export async function renewLeases(
  database: Database,
  leases: readonly Lease[],
  length: { readonly leaseMs: number; readonly moment: number | null },
): Promise<{ readonly renewed: readonly string[]; readonly busy: readonly string[] }> {
  const renewed: string[] = [];
  const busy: string[] = [];
  for (let from = 0; from < leases.length; from += AT_ONCE) {
    const some = leases.slice(from, from + AT_ONCE);
    const held = encodeJson(some.map(({ conversationId, epoch }) => [conversationId, epoch]));
    await database.writePriority(async (sql) => {
      const done = (await sql.all(RENEW, { held, ...length })).map(({ id }) => id);
      renewed.push(...done);
      if (database.dialect === 'sqlite' || done.length === some.length) return;
      const all = await sql.all(HELD, { held });
      busy.push(...all.flatMap(({ id }) => (done.includes(id) ? [] : [id])));
    });
  }
  return { renewed, busy };
}

const HELD_BY = `
  select id from conversation where lease_owner is not null and (id, epoch) in (
    select ${selectJsonItem(0)}, cast(${selectJsonItem(1)} as bigint) from json_each(:held))` as const;

const HELD = defineStatement(HELD_BY).rows<{ readonly id: string }>();

const RENEW = defineStatement(`
  update conversation set lease_until = ${SHARED_NOW} + :leaseMs
  where id in (${HELD_BY} /*pg for no key update skip locked*/) returning id`).rows<{
  readonly id: string;
}>();
