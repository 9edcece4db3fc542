import { type Monotonic, ParleyError, reasonOf } from '@parley/core';

/** `warning`: it works, but not as well as it could. `skipped`: there was nothing to check. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** What one check found about one thing; texts hold no secret. */
export interface Finding {
  readonly status: CheckStatus;
  /** Which of several: `telegram/work`, a model. */
  readonly subject?: string;
  readonly found: string;
  /** What to do; always there for a warning and a failure. */
  readonly fix?: string;
}

export interface Check {
  readonly name: string;
  /** Ends when the signal is aborted, or is given up then. */
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}

export interface CheckResult extends Finding {
  readonly check: string;
  /** In ms. */
  readonly tookMs: number;
}

export const ok = (found: string, subject?: string): Finding => finding('ok', found, { subject });
export const skipped = (found: string, subject?: string): Finding =>
  finding('skipped', found, { subject });
export const warning = (found: string, fix: string, subject?: string): Finding =>
  finding('warning', found, { fix, subject });
export const failed = (found: string, fix: string, subject?: string): Finding =>
  finding('failed', found, { fix, subject });

function finding(
  status: CheckStatus,
  found: string,
  { fix, subject }: { readonly fix?: string; readonly subject?: string | undefined },
): Finding {
  return {
    status,
    found,
    ...(subject !== undefined && { subject }),
    ...(fix !== undefined && { fix }),
  };
}

/** Runs all checks at once, each with a deadline of its own, and keeps their order. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  deadlineMs: number,
  monotonic: Monotonic,
): Promise<readonly CheckResult[]> {
  const results = checks.map(async ({ name, run }) => {
    const startedAt = monotonic();
    const findings = await withinDeadline(run, deadlineMs);
    const tookMs = monotonic() - startedAt;
    return findings.map((found): CheckResult => ({ check: name, ...found, tookMs }));
  });
  return (await Promise.all(results)).flat();
}

/** A little after the signal, so that a check can say itself what did not answer. In ms. */
const GRACE_MS = 250;

async function withinDeadline(run: Check['run'], deadlineMs: number): Promise<readonly Finding[]> {
  const ending = new AbortController();
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly Finding[]>();
  const seconds = deadlineMs / 1_000;
  const end = setTimeout(() => ending.abort(), deadlineMs);
  const last = setTimeout(
    () => giveUp([failed(`no result within ${seconds} s`, SLOW)]),
    deadlineMs + GRACE_MS,
  );
  try {
    return await Promise.race([run(ending.signal), late]);
  } catch (thrown) {
    return [failure(thrown)];
  } finally {
    clearTimeout(end);
    clearTimeout(last);
  }
}

const DEFECT =
  'If the running gateway is of another version, start it again. Else report this as a defect.';

const SLOW = 'Find out what is slow (network, disk, server), and run the doctor again.';

/** Messages of Parley's errors say what to do; anything else is a defect. */
export function failure(thrown: unknown): Finding {
  if (!(thrown instanceof ParleyError)) {
    return failed(`The check itself failed: ${reasonOf(thrown)}`, DEFECT);
  }
  const [, what = thrown.message, fix = 'Correct that and run the doctor again.'] =
    /^(.+?[.!?])\s+(\S.*)$/s.exec(thrown.message) ?? [];
  return failed(what, fix);
}
