import type { Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { SoulRollback, SoulVerdict, SoulVersion } from '../souls.ts';
import { addVersion } from './add-soul.ts';
import {
  appliedOf,
  lockSoul,
  type SoulMoment,
  useVersion,
  versionAskedBy,
  versionOf,
} from './use-soul.ts';

/** proposed → passed or refused, once. */
export async function judgeSoul(
  sql: Sql,
  { agent, number, now }: SoulMoment,
  { state, score, findings, appliesAt }: SoulVerdict,
): Promise<boolean> {
  const judged = await sql
    .updateTable('soul_version')
    .set({
      state,
      score,
      findings: toJson(findings),
      applies_at: appliesAt,
      judged_at: now,
      untold: 1,
    })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .where('state', '=', 'proposed')
    .returning('number')
    .executeTakeFirst();
  return judged !== undefined;
}

/** passed → applied, if `inUse` is in use still. */
export async function applySoul(
  sql: Sql,
  moment: SoulMoment,
  by: string | null,
  inUse: number,
): Promise<boolean> {
  await lockSoul(sql, moment.agent);
  const version = await versionOf(sql, moment.agent, moment.number);
  if (version?.state !== 'passed') return false;
  if ((await appliedOf(sql, moment.agent))?.number !== inUse) return false;
  await useVersion(sql, moment, { by, untold: by === null ? 1 : 0 });
  return true;
}

/** Ends a proposal that is open. */
export async function closeSoul(
  sql: Sql,
  { agent, number }: SoulMoment,
  state: 'vetoed' | 'replaced',
  by: string | null,
): Promise<boolean> {
  await lockSoul(sql, agent);
  const closed = await sql
    .updateTable('soul_version')
    .set({ state, decided_by: by, applies_at: null, untold: 0 })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .where('state', 'in', ['proposed', 'passed'])
    .returning('number')
    .executeTakeFirst();
  return closed !== undefined;
}

/** Puts the text of an earlier version into use again, as a new one. */
export async function rollbackSoul(
  sql: Sql,
  agent: string,
  { to, ...order }: SoulRollback,
  now: number,
): Promise<SoulVersion | null> {
  await lockSoul(sql, agent);
  const known = await versionAskedBy(sql, agent, order.askedBy);
  if (known !== null) return known;
  const inUse = await appliedOf(sql, agent);
  const earlier = await versionOf(sql, agent, to);
  if (inUse === null || inUse.number !== order.basedOn) return null;
  if (earlier === null || earlier.appliedAt === null) return null;
  // The front matter is the file’s own: going back to an older text must not open what was closed since.
  const soul = { ...order, text: earlier.text, head: inUse.head, author: 'person' } as const;
  const { number } = await addVersion(sql, agent, soul, now);
  await sql
    .updateTable('soul_version')
    .set({ score: earlier.score, findings: toJson(earlier.findings), judged_at: now })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .execute();
  await useVersion(sql, { agent, number, now }, { by: order.by, untold: 0 });
  return versionOf(sql, agent, number);
}
