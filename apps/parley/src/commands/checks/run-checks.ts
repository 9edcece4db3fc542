import type { Monotonic } from '@parley/core';
import { type Check, type CheckFinding, createFailureFinding, failed } from './check.ts';
import type { ExaminedAgent, FactName, FactsFor } from './facts.ts';

export interface CheckResult extends CheckFinding {
  readonly check: Check;
  /** The duration of the check (ms), including the time to gather its data. */
  readonly tookMs: number;
}

interface CheckLimits {
  /** The deadline (ms) for gathering the data for a check, and for each of its parts. */
  readonly deadlineMs: number;
  readonly monotonic: Monotonic;
}

/**
 * Runs the checks for all agents, starting with the default agent. All checks run concurrently,
 * each with its own deadline. The results keep the order of the table. A check is omitted if its
 * data is not available; a check that throws or times out becomes a finding. The promise never
 * rejects.
 */
export async function runChecks(
  checks: readonly Check[],
  agents: readonly ExaminedAgent[],
  limits: CheckLimits,
): Promise<readonly CheckResult[]> {
  const run = (some: readonly Check[]) =>
    Promise.all(some.map((check) => runForAgents(check, agents, limits)));
  const first = await run(checks.filter(({ last }) => !last));
  const last = await run(checks.filter((check) => check.last));
  return [...first, ...last].flat();
}

async function runForAgents(
  check: Check,
  agents: readonly ExaminedAgent[],
  limits: CheckLimits,
): Promise<readonly CheckResult[]> {
  const examined = check.agents === undefined ? agents.slice(0, 1) : agents;
  const all = examined.map((one) => runCheck(check, one, limits));
  const [ofDefault = [], ...ofOthers] = await Promise.all(all);
  const known = new Set(ofDefault.map(({ found }) => found));
  const isReported = ({ found }: CheckFinding) => check.agents === 'each' || !known.has(found);
  return [...ofDefault, ...ofOthers.flat().filter(isReported)];
}

async function runCheck(
  check: Check,
  examined: ExaminedAgent,
  { deadlineMs, monotonic }: CheckLimits,
): Promise<readonly CheckResult[]> {
  const { name, sources } = examined;
  if (check.needs.some((need) => sources[need] === undefined)) return [];
  const startedAt = monotonic();
  const found = await runWithDeadline(deadlineMs, async (signal) =>
    check.run(await collectFacts(check, examined), signal),
  );
  const results = found.map(async (part) => {
    const findings = typeof part === 'function' ? await runWithDeadline(deadlineMs, part) : [part];
    const tookMs = monotonic() - startedAt;
    return findings.map((one) => {
      const finding = completeFinding(one, check);
      const agent = check.agents === undefined ? undefined : name;
      return { ...finding, subject: finding.subject ?? agent, check, tookMs };
    });
  });
  return (await Promise.all(results)).flat();
}

function completeFinding(
  one: string | CheckFinding,
  { severity = 'warning', advice }: Check,
): CheckFinding {
  if (typeof one === 'string') return { severity, found: one, advice };
  return one.severity === 'ok' || one.severity === 'skipped' ? one : { advice, ...one };
}

async function collectFacts(
  { needs }: Pick<Check, 'needs'>,
  { base, sources }: ExaminedAgent,
): Promise<FactsFor<FactName>> {
  return Object.assign({}, base, ...(await Promise.all(needs.map((need) => sources[need]?.()))));
}

/**
 * The grace period (ms) after the abort signal, in which a check can report what did not respond.
 */
const GRACE_MS = 250;

const SLOW =
  'Find out what is slow (the network, the disk or a server), and run the command again.';

/** Returns the result of `work`, or a finding if it failed or timed out. */
async function runWithDeadline<T>(
  deadlineMs: number,
  work: (signal: AbortSignal) => readonly T[] | Promise<readonly T[]>,
): Promise<readonly (T | CheckFinding)[]> {
  const ending = new AbortController();
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly CheckFinding[]>();
  const end = setTimeout(() => ending.abort(), deadlineMs);
  const noResult = failed(`no result within ${deadlineMs / 1_000} s`, SLOW);
  const last = setTimeout(() => giveUp([noResult]), deadlineMs + GRACE_MS);
  try {
    return await Promise.race([work(ending.signal), late]);
  } catch (thrown) {
    return [createFailureFinding(thrown)];
  } finally {
    clearTimeout(end);
    clearTimeout(last);
  }
}
