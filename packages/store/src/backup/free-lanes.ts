import type { Sql } from '../database.ts';

/** Nobody holds a lane of a restored database, and whoever held it before can write nothing more. */
export async function freeLanes(sql: Sql): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: null }))
    .execute();
  await sql
    .updateTable('summary')
    .set({ claimed_by: null, claimed_until: 0 })
    .where('claimed_by', 'is not', null)
    .execute();
}
