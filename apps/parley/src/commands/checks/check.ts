import { ParleyError, reasonOf } from '@parley/core';
import type { AuditSeverity } from '@parley/gateway/api';
import type { AuditNeed, FactNeed, FactsFor } from './facts.ts';

/**
 * `critical`, `warning` and `info` are the severities of an audit. `failed` means that something
 * does not work, `ok` that it was checked and is fine, and `skipped` that there was nothing to
 * check.
 */
export type FindingSeverity = AuditSeverity | 'failed' | 'ok' | 'skipped';

/** A finding of a check about one subject. Its texts contain no secrets. */
export interface CheckFinding {
  readonly severity: FindingSeverity;
  /** The subject, if there are several: an account, a model or an agent. */
  readonly subject?: string | undefined;
  readonly found: string;
  /** The advice; defaults to the check's advice. */
  readonly advice?: string | undefined;
  /** The repair that `parley audit --fix` makes. */
  readonly repair?: ModeRepair;
}

/** A change of a file's mode. */
interface ModeRepair {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** A part of a check with a separate deadline, for example one of several accounts. */
type CheckPart = (
  signal: AbortSignal,
) => readonly CheckFinding[] | Promise<readonly CheckFinding[]>;

/** A plain text is a finding with the severity and the advice of the check. */
type CheckOutput = readonly (string | CheckFinding | CheckPart)[];

interface CheckRow<N extends FactNeed> {
  /** Must never change, because people and scripts refer to it. */
  readonly id: string;
  /** The statement that is true if the check finds nothing. */
  readonly title: string;
  /**
   * `each` runs the check for every agent. `differing` does the same but reports findings common to
   * all agents only once.
   */
  readonly agents?: 'each' | 'differing';
  /** The check evaluates results of other checks, so it runs after them. */
  readonly last?: true;
  run(facts: FactsFor<N>, signal: AbortSignal): CheckOutput | Promise<CheckOutput>;
}

/** A row in the table of checks. */
export interface Check<N extends FactNeed = FactNeed> extends CheckRow<N>, Partial<CheckDefaults> {
  readonly commands: readonly ('doctor' | 'audit')[];
  /** The name shown by `parley doctor`, if it differs from the id. */
  readonly doctorName?: string;
  /** The facts that the check needs; it runs only where all of them are available. */
  readonly needs: readonly N[];
}

/** The severity and advice of a finding that is only a text. */
interface CheckDefaults {
  readonly severity: AuditSeverity;
  readonly advice: string;
}

/** Declares a check for `parley doctor` (U02). */
export function defineDoctorCheck<N extends FactNeed>(
  needs: readonly N[],
  row: CheckRow<N>,
): Check<N> {
  return { ...row, needs, commands: ['doctor'] };
}

type AuditRow<N extends AuditNeed> = CheckRow<N | 'settings'> & CheckDefaults;

/**
 * Declares a check for `parley audit` (U05). It runs for every agent because each has its own
 * settings.
 */
export function defineAuditCheck<N extends AuditNeed>(
  need: N,
  row: AuditRow<N>,
): Check<N | 'settings'> {
  const agents = need === 'workspace' ? 'each' : 'differing';
  const needs = [...new Set(['settings', need] as const)];
  return { agents, ...row, needs, commands: ['audit'] };
}

/** Declares a check for both commands. */
export function defineCheck<N extends AuditNeed>(
  need: N,
  row: AuditRow<N> & Pick<Check, 'doctorName'>,
): Check<N | 'settings'> {
  return { ...defineAuditCheck(need, row), commands: ['doctor', 'audit'] };
}

export const ok = (found: string): CheckFinding => ({ severity: 'ok', found });
export const skipped = (found: string): CheckFinding => ({ severity: 'skipped', found });
export const warning = (found: string, advice: string): CheckFinding => ({
  ...{ severity: 'warning', found, advice },
});
export const failed = (found: string, advice: string): CheckFinding => ({
  ...{ severity: 'failed', found, advice },
});

const DEFECT =
  'If the running gateway has another version, restart it. Otherwise report this as a bug.';

/**
 * The finding for a check that threw an error. Messages of Parley's own errors say what to do; any
 * other error is a defect.
 */
export function createFailureFinding(thrown: unknown): CheckFinding {
  if (!(thrown instanceof ParleyError)) {
    return failed(`The check itself failed: ${reasonOf(thrown)}`, DEFECT);
  }
  const [, found = thrown.message, advice = 'Fix that and run the command again.'] =
    /^(.+?[.!?])\s+(\S.*)$/s.exec(thrown.message) ?? [];
  return failed(found, advice);
}
