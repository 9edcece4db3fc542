import type { AppliedStep } from '../migrate.ts';

/** The number of the last step in `migrations.ts`; they are numbered without gaps from 1. */
const NEWEST_STEP = 29;

/** Whether a database has seen exactly the steps of this Parley, so that none of them need be loaded. */
export function hasAllSteps(applied: readonly AppliedStep[]): boolean {
  const numbers = new Set(applied.map(({ number }) => number));
  return numbers.size === NEWEST_STEP && Math.max(...numbers) === NEWEST_STEP;
}
