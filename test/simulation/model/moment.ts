import type { AppliedChange } from './apply-step.ts';
import type { RuleNumber, RuleViolation } from './rules.ts';
import type { TracedTables } from './traced-tables.ts';

/** Details that differ between deployments and that the rules leave open. */
export interface TraceOptions {
  /**
   * How often a turn may be started, ten times by default, before it is closed without a notice.
   */
  readonly maxAttempts?: number;
  /**
   * Which parts without a key may arrive twice: notices, and parts of chats with `whenUncertain:
   * resend`.
   */
  readonly mayRepeat?: (chat: string, part: string) => boolean;
}

/** An applied step, with all its effects. */
export interface StepMoment {
  readonly tables: TracedTables;
  readonly process: string;
  readonly applied: readonly AppliedChange[];
  /** Turns that this step started, and turns that it restarted. */
  readonly began: ReadonlySet<string>;
  readonly restarted: ReadonlySet<string>;
  /** Subjects of new dead letters. */
  readonly letters: ReadonlySet<string>;
  readonly options: TraceOptions;
}

export type CheckedChange<Kind extends AppliedChange['kind']> = Extract<
  AppliedChange,
  { readonly kind: Kind }
>;

export function createViolation(rule: RuleNumber, what: string): RuleViolation {
  return { rule, what };
}

export function checkContinuity(
  row: string,
  from: string | null,
  before: { readonly state: string } | undefined,
) {
  if (before === undefined || before.state === from) return [];
  return [createViolation(0, `${row} is said to have been ${from}, but was ${before.state}`)];
}
