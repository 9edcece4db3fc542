import type { Simulation } from '../simulation.ts';

/** A journal step, with the fields that the promises need. */
export interface JournalRow {
  readonly turn: string;
  readonly kind: string;
  /** The key of the call that started or has a result. */
  readonly call: string | undefined;
  /** Whether the call failed; only for results. */
  readonly failed: boolean;
  readonly text: string;
  /** The calls of a model step, by their keys. */
  readonly calls: readonly JournalCall[];
}

export interface JournalCall {
  readonly key: string;
  readonly name: string;
  readonly arguments: string;
}

interface StepRow {
  readonly row: number;
  readonly turn: string;
  readonly at: number;
  readonly content: string;
}

interface StepContent {
  readonly kind: string;
  readonly call?: string;
  readonly failed?: boolean;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
}

/** Returns a reader of the steps added to all journals since its last call. */
export function createJournalReader(): (simulation: Simulation) => readonly JournalRow[] {
  let last = 0;
  return ({ observer }) => {
    const rows = observer.rows<StepRow>(
      `select rowid as row, turn_id as turn, step_index as at, content from turn_step
       where rowid > ? order by rowid`,
      last,
    );
    last = rows.at(-1)?.row ?? last;
    return rows.map(readStep);
  };
}

function readStep({ turn, at, content }: StepRow): JournalRow {
  const step = JSON.parse(content) as StepContent;
  const { kind, call, failed = false, text = '', calls = [] } = step;
  const named = calls.map((one, nth) => ({ ...one, key: `${turn}.${at}.${nth}` }));
  return { turn, kind, call, failed, text, calls: named };
}
