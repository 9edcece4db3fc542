import { z } from 'zod';
import { toJson } from '../json-column.ts';

/** One beginning of a turn: when, in ms, and by which worker. */
const TurnRun = z.object({ at: z.number(), worker: z.string().nullable() });
export type TurnRun = z.infer<typeof TurnRun>;

const TurnRuns = z.array(TurnRun);

/** Of a turn that is suspended again and again the last ones tell enough. */
const KEPT_RUNS = 20;

/** The column `runs` with one more beginning. */
export function withRun(before: string | null, run: TurnRun): string {
  return toJson([...readRuns(before), run].slice(-KEPT_RUNS));
}

/** How often a turn was begun; nothing where nobody noted it. */
export function readRuns(runs: string | null): readonly TurnRun[] {
  if (runs === null) return [];
  const parsed = TurnRuns.safeParse(JSON.parse(runs));
  return parsed.success ? parsed.data : [];
}
