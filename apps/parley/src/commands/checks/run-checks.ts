import type { Monotonic } from '@parley/core';
import { type Check, type Finding, failed, failure } from './check.ts';
import type { Examined, FactsFor, Need } from './facts.ts';

export interface CheckResult extends Finding {
  readonly check: Check;
  /** The duration of the check, including the time to gather its facts, in ms. */
  readonly tookMs: number;
}

interface Limits {
  /** The deadline for gathering the facts of a check, and for each of its parts, in ms. */
  readonly deadlineMs: number;
  readonly monotonic: Monotonic;
}

/**
 * Runs checks on agents, the default one first. All run concurrently, each within its deadline; the
 * results are in the order of the table. A check whose needs are not available is omitted; one that
 * throws or times out becomes a finding. Never rejects.
 */
export async function runChecks(
  checks: readonly Check[],
  agents: readonly Examined[],
  limits: Limits,
): Promise<readonly CheckResult[]> {
  const run = (some: readonly Check[]) =>
    Promise.all(some.map((check) => runForAgents(check, agents, limits)));
  const first = await run(checks.filter(({ last }) => !last));
  const last = await run(checks.filter((check) => check.last));
  return [...first, ...last].flat();
}

async function runForAgents(
  check: Check,
  agents: readonly Examined[],
  limits: Limits,
): Promise<readonly CheckResult[]> {
  const examined = check.agents === undefined ? agents.slice(0, 1) : agents;
  const all = examined.map((one) => runCheck(check, one, limits));
  const [ofDefault = [], ...ofOthers] = await Promise.all(all);
  const known = new Set(ofDefault.map(({ found }) => found));
  const isReported = ({ found }: Finding) => check.agents === 'each' || !known.has(found);
  return [...ofDefault, ...ofOthers.flat().filter(isReported)];
}

async function runCheck(
  check: Check,
  examined: Examined,
  { deadlineMs, monotonic }: Limits,
): Promise<readonly CheckResult[]> {
  const { name, sources } = examined;
  if (check.needs.some((need) => sources[need] === undefined)) return [];
  const startedAt = monotonic();
  const found = await within(deadlineMs, async (signal) =>
    check.run(await gather(check, examined), signal),
  );
  const results = found.map(async (part) => {
    const findings = typeof part === 'function' ? await within(deadlineMs, part) : [part];
    const tookMs = monotonic() - startedAt;
    return findings.map((one) => {
      const finding = completed(one, check);
      const agent = check.agents === undefined ? undefined : name;
      return { ...finding, subject: finding.subject ?? agent, check, tookMs };
    });
  });
  return (await Promise.all(results)).flat();
}

function completed(one: string | Finding, { severity = 'warning', advice }: Check): Finding {
  if (typeof one === 'string') return { severity, found: one, advice };
  return one.severity === 'ok' || one.severity === 'skipped' ? one : { advice, ...one };
}

async function gather(
  { needs }: Pick<Check, 'needs'>,
  { base, sources }: Examined,
): Promise<FactsFor<Need>> {
  return Object.assign({}, base, ...(await Promise.all(needs.map((need) => sources[need]?.()))));
}

/**
 * The grace period after the abort signal, in ms, in which a check can itself report what did not
 * answer.
 */
const GRACE_MS = 250;

const SLOW =
  'Find out what is slow (the network, the disk or a server), and run the command again.';

/** The result of `work`, or a finding that it failed or timed out. */
async function within<T>(
  deadlineMs: number,
  work: (signal: AbortSignal) => readonly T[] | Promise<readonly T[]>,
): Promise<readonly (T | Finding)[]> {
  const ending = new AbortController();
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly Finding[]>();
  const end = setTimeout(() => ending.abort(), deadlineMs);
  const noResult = failed(`no result within ${deadlineMs / 1_000} s`, SLOW);
  const last = setTimeout(() => giveUp([noResult]), deadlineMs + GRACE_MS);
  try {
    return await Promise.race([work(ending.signal), late]);
  } catch (thrown) {
    return [failure(thrown)];
  } finally {
    clearTimeout(end);
    clearTimeout(last);
  }
}
