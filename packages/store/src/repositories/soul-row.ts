import type { Selectable } from 'kysely';
import { z } from 'zod';
import { fromCheckedJson } from '../json-column.ts';
import type { SoulVersion } from '../souls.ts';
import type { SoulVersionTable } from '../tables/soul-tables.ts';

const Findings = z.array(
  z.object({ rule: z.string(), points: z.number(), blocks: z.boolean(), words: z.string() }),
);

/** A stored version as the other packages know it. Throws StoreError `store-damaged`. */
export function readSoulVersion(row: Selectable<SoulVersionTable>): SoulVersion {
  return {
    agent: row.agent,
    number: row.number,
    text: row.text,
    head: row.head,
    author: row.author,
    by: row.by_whom,
    reason: row.reason,
    basedOn: row.based_on,
    diff: row.diff,
    score: row.score,
    findings: fromCheckedJson(Findings, row.findings, `findings of version ${row.number}`),
    state: row.state,
    createdAt: row.created_at,
    judgedAt: row.judged_at,
    appliesAt: row.applies_at,
    appliedAt: row.applied_at,
    decidedBy: row.decided_by,
  };
}
