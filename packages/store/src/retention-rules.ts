import type { AgeRule, RetentionAges } from './tables/table.ts';
import { listPrimaryKeyColumns, listReferencesTo, TABLE_LIST } from './tables.ts';

export type { RetentionAges } from './tables/table.ts';

/** A table whose old rows are removed. */
export interface RetentionRule extends AgeRule {
  readonly table: string;
  readonly by: readonly string[];
}

/** All retention rules; referring tables come before the tables they refer to. */
export const RETENTION_RULES: readonly RetentionRule[] = TABLE_LIST.toReversed().flatMap(
  ([table, described]) =>
    typeof described.kept === 'string'
      ? []
      : [
          {
            by: listPrimaryKeyColumns(described),
            ...described.kept,
            table,
            needed: buildNeededCondition(table, described.kept),
          },
        ],
);

function buildNeededCondition(table: string, { needed }: AgeRule): string {
  const references = listReferencesTo(table).map(
    ({ table: child, column, to }) =>
      `exists (select 1 from ${child} as child where child.${column} = ${table}.${to})`,
  );
  return [...(needed === undefined ? [] : [needed]), ...references].join(' or ');
}

/** Computes the time before which the rows of this rule are old. */
export function computeAgeCutoff(
  { keeps }: RetentionRule,
  ages: RetentionAges,
  now: number,
): number {
  const age = Math.max(...keeps.map((name) => ages[name]));
  return age === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, now - age);
}

/** Builds the SQL condition for rows older than `:bound` that are no longer needed. */
export function buildOldRowsCondition({ at, needed }: RetentionRule): string {
  return `${at} < :bound${needed === '' ? '' : ` and not (${needed})`}`;
}

export const boundOf = ({ isDay }: RetentionRule, at: number) =>
  isDay === true ? formatUtcDay(at) : at;

/** Formats the day in UTC; the time zone does not matter for limits of many days. */
export function formatUtcDay(at: number): string {
  return new Date(Math.min(Math.max(at, 0), 8.64e15)).toISOString().slice(0, 10);
}
