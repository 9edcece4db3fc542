import { ParleyError, reasonOf } from '@parley/core';
import type { AuditSeverity } from '@parley/gateway/api';
import type { AuditNeed, FactsFor, Need } from './facts.ts';

/**
 * `critical`, `warning` and `info` as in an audit. `failed`: something does not work. `ok`: it was checked and is fine.
 * `skipped`: there was nothing to check.
 */
export type Severity = AuditSeverity | 'failed' | 'ok' | 'skipped';

/** What a check found about one thing. Its texts hold no secret. */
export interface Finding {
  readonly severity: Severity;
  /** Which of several: an account, a model, an agent. */
  readonly subject?: string;
  readonly found: string;
  /** What to do about it; every warning and failure has one. */
  readonly advice?: string;
  /** What `parley audit --fix` does about it. */
  readonly repair?: Repair;
}

/** A change of the mode of a file. */
export interface Repair {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** A part of a check that has a deadline of its own, such as one of several accounts. */
type Work = (signal: AbortSignal) => Findings | Promise<Findings>;
type Findings = readonly Finding[];

/** A row of the table of checks. */
export interface Check<N extends Need = Need> {
  /** Never changes: people and scripts refer to it. */
  readonly id: string;
  /** Its name in the doctor, if that is another one. */
  readonly doctorName?: string;
  readonly commands: readonly ('doctor' | 'audit')[];
  /** What holds if it finds nothing. */
  readonly title: string;
  /** Of findings that are only a text. */
  readonly severity?: AuditSeverity;
  readonly advice?: string;
  /** It runs where all of this is available. */
  readonly needs: readonly N[];
  /** `each`: it runs for every agent. `differing`: so, too, and what holds for all agents is reported once. */
  readonly agents?: 'each' | 'differing';
  /** It evaluates what the other checks learned, so it runs after them. */
  readonly last?: true;
  works(facts: FactsFor<N>): readonly Work[];
}

interface DoctorRow<N extends Need>
  extends Pick<Check<N>, 'id' | 'title' | 'needs' | 'agents' | 'last'> {
  run(facts: FactsFor<N>, signal: AbortSignal): Findings | Promise<Findings>;
}

interface DoctorRows<N extends Need> extends Pick<Check<N>, 'id' | 'title' | 'needs'> {
  readonly each: Check<N>['works'];
}

/** Declares a check of `parley doctor` (U02). With `each`, every part has a deadline of its own. */
export function doctor<N extends Need = never>(row: DoctorRow<N> | DoctorRows<N>): Check<N> {
  const commands = ['doctor'] as const;
  if ('each' in row) return { ...row, commands, works: row.each };
  return { ...row, commands, works: (facts) => [(signal) => row.run(facts, signal)] };
}

interface AuditRow<N extends AuditNeed> {
  readonly id: string;
  readonly severity: AuditSeverity;
  readonly title: string;
  readonly advice: string;
  /** Besides the settings. */
  readonly needs?: readonly N[];
  /** A text has the severity and the advice of the check. */
  run(facts: FactsFor<N | 'settings'>): Found | Promise<Found>;
}

type Found = readonly (string | Finding)[];

/** Declares a check of `parley audit` (U05). */
export function audit<N extends AuditNeed = never>(row: AuditRow<N>): Check<N | 'settings'> {
  const { run, severity, advice, ...rest } = row;
  const needs = ['settings', ...(row.needs ?? [])] as const;
  const complete = (one: string | Finding): Finding => {
    if (typeof one === 'string') return { severity, found: one, advice };
    return one.severity === 'ok' || one.severity === 'skipped' ? one : { advice, ...one };
  };
  return {
    ...{ ...rest, severity, advice, needs, commands: ['audit'] },
    agents: needs.some((need) => need === 'workspace') ? 'each' : 'differing',
    works: (facts) => [async () => (await run(facts)).map(complete)],
  };
}

/** Declares a check of both commands. */
export function both<N extends AuditNeed = never>({
  doctorName,
  ...row
}: AuditRow<N> & { readonly doctorName: string }): Check<N | 'settings'> {
  return { ...audit(row), doctorName, commands: ['doctor', 'audit'] };
}

export const ok = (found: string, subject?: string): Finding => finding('ok', found, { subject });
export const skipped = (found: string, subject?: string): Finding =>
  finding('skipped', found, { subject });
export const warning = (found: string, advice: string, subject?: string): Finding =>
  finding('warning', found, { advice, subject });
export const failed = (found: string, advice: string, subject?: string): Finding =>
  finding('failed', found, { advice, subject });

function finding(
  severity: Severity,
  found: string,
  { advice, subject }: { readonly advice?: string; readonly subject?: string | undefined },
): Finding {
  return {
    ...{ severity, found },
    ...(subject !== undefined && { subject }),
    ...(advice !== undefined && { advice }),
  };
}

const DEFECT =
  'If the running gateway is of another version, start it again. Else report this as a defect.';

/** A check that failed. Messages of Parley's errors say what to do; anything else is a defect. */
export function failure(thrown: unknown): Finding {
  if (!(thrown instanceof ParleyError)) {
    return failed(`The check itself failed: ${reasonOf(thrown)}`, DEFECT);
  }
  const [, found = thrown.message, advice = 'Fix that and run the command again.'] =
    /^(.+?[.!?])\s+(\S.*)$/s.exec(thrown.message) ?? [];
  return failed(found, advice);
}
