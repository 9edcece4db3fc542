import { ParleyError, reasonOf } from '@parley/core';
import type { AuditSeverity } from '@parley/gateway/api';
import type { AuditFactName, FactName, FactsFor } from './facts.ts';

/**
 * `critical`, `warning` and `info` are audit severities. `failed` means that something does not
 * work, `ok` that a check passed, and `skipped` that there was nothing to check.
 */
export type FindingSeverity = AuditSeverity | 'failed' | 'ok' | 'skipped';

/** A problem or result that a check reports. A finding's text and advice never contain secrets. */
export interface CheckFinding {
  readonly severity: FindingSeverity;
  /** The account, model or agent that the finding concerns, if there are several. */
  readonly subject?: string | undefined;
  readonly found: string;
  /** The advice for this finding; defaults to the check's advice. */
  readonly advice?: string | undefined;
  /** The repair that `parley audit --fix` makes for this finding. */
  readonly repair?: ModeRepair;
}

interface ModeRepair {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** A part of a check with its own deadline, such as one of several accounts. */
type CheckPart = (
  signal: AbortSignal,
) => readonly CheckFinding[] | Promise<readonly CheckFinding[]>;

/** A string is a finding with the check's severity and advice. */
type CheckOutput = readonly (string | CheckFinding | CheckPart)[];

interface CheckRow<N extends FactName> {
  /** Ids must never change, because people and scripts refer to them. */
  readonly id: string;
  /** A statement that is true if the check does not report any findings. */
  readonly title: string;
  /**
   * `each` runs the check for every agent. `differing` also runs it for every agent, but reports
   * findings that all agents share only once.
   */
  readonly agents?: 'each' | 'differing';
  /** The check evaluates the results of other checks, so it runs last. */
  readonly last?: true;
  run(facts: FactsFor<N>, signal: AbortSignal): CheckOutput | Promise<CheckOutput>;
}

export interface Check<N extends FactName = FactName> extends CheckRow<N>, Partial<CheckDefaults> {
  readonly commands: readonly ('doctor' | 'audit')[];
  /** The name in the output of `parley doctor`, if it differs from the id. */
  readonly doctorName?: string;
  /** The data that the check needs; the check runs only where all of it is available. */
  readonly needs: readonly N[];
}

/** The severity and advice for findings that are plain strings. */
interface CheckDefaults {
  readonly severity: AuditSeverity;
  readonly advice: string;
}

/** Declares a check for `parley doctor` (U02). */
export function defineDoctorCheck<N extends FactName>(
  needs: readonly N[],
  row: CheckRow<N>,
): Check<N> {
  return { ...row, needs, commands: ['doctor'] };
}

type AuditRow<N extends AuditFactName> = CheckRow<N | 'settings'> & CheckDefaults;

/**
 * Declares a check for `parley audit` (U05). Audit checks run for every agent, because each agent
 * has its own settings.
 */
export function defineAuditCheck<N extends AuditFactName>(
  need: N,
  row: AuditRow<N>,
): Check<N | 'settings'> {
  const agents = need === 'workspace' ? 'each' : 'differing';
  const needs = [...new Set(['settings', need] as const)];
  return { agents, ...row, needs, commands: ['audit'] };
}

/** Declares a check for both `parley doctor` and `parley audit`. */
export function defineCheck<N extends AuditFactName>(
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
  'If the running gateway has a different version, restart it. Otherwise, report this as a bug.';

/**
 * Creates the finding for a check that threw an error. Parley's own errors include advice in their
 * messages; any other error is a bug.
 */
export function createFailureFinding(thrown: unknown): CheckFinding {
  if (!(thrown instanceof ParleyError)) {
    return failed(`The check itself failed: ${reasonOf(thrown)}`, DEFECT);
  }
  const [, found = thrown.message, advice = 'Fix the problem and run the command again.'] =
    /^(.+?[.!?])\s+(\S.*)$/s.exec(thrown.message) ?? [];
  return failed(found, advice);
}
