import { type Runtime, systemTime } from '@parley/core';
import { type Cli, jsonText } from '../../cli.ts';
import { tableText } from '../../terminal/text.ts';
import { versionFacts } from '../../version.ts';
import { type CheckResult, type CheckStatus, runChecks } from './check.ts';
import { machineChecks } from './machine-checks.ts';
import { mcpChecks } from './mcp-checks.ts';
import { clockFindings, gatewayFindings, settingsFindings, versionFindings } from './own-checks.ts';
import { serviceChecks } from './service-checks.ts';
import { lookAround, type Situation } from './situation.ts';
import { skillChecks } from './skill-checks.ts';

/** Each check has this long, in ms. */
const DEADLINE_MS = 10_000;

interface DoctorEnv extends Pick<Runtime, 'clock' | 'monotonic'> {
  readonly deadlineMs: number;
}

/** `parley doctor` (U02): 0 nothing has failed, 1 something has. Changes nothing, beside a running gateway or without. */
export async function doctor(
  cli: Cli,
  { json = false }: { readonly json?: boolean },
  { deadlineMs, ...time }: DoctorEnv = { ...systemTime, deadlineMs: DEADLINE_MS },
): Promise<number> {
  const { folder, print } = cli;
  const { situation, end } = await lookAround(cli, time);
  const checks = await examine(situation, deadlineMs);
  const counts = countsOf(checks);
  if (json) {
    const { parley, node } = versionFacts();
    const report = { version: 1, parley, node, at: new Date(time.clock()).toISOString() };
    const place = { dataFolder: folder.path, settingsFile: folder.settingsFile };
    print(jsonText({ ...report, ...place, counts, checks }));
  } else print(doctorText(checks, counts));
  end();
  return counts.failed > 0 ? 1 : 0;
}

/** Makes all checks, each with a deadline of its own. */
export async function examine(
  situation: Situation,
  deadlineMs: number,
): Promise<readonly CheckResult[]> {
  const { monotonic } = situation;
  const at = (name: string, work: () => ReturnType<typeof settingsFindings>) => ({
    name,
    run: async () => work(),
  });
  const asked = await runChecks(
    [
      at('version', versionFindings),
      at('settings', () => settingsFindings(situation)),
      at('gateway', () => gatewayFindings(situation)),
      ...serviceChecks(situation),
      ...(situation.loaded === null ? [] : skillChecks(situation, situation.loaded)),
      ...(situation.loaded === null ? [] : mcpChecks(situation, situation.loaded)),
      ...machineChecks(situation),
    ],
    deadlineMs,
    monotonic,
  );
  // The others have asked servers for the time by now.
  const clocks = at('clock', () => clockFindings(situation.clocks));
  return [...asked, ...(await runChecks([clocks], deadlineMs, monotonic))];
}

type Counts = Readonly<Record<CheckStatus, number>>;

function countsOf(checks: readonly CheckResult[]): Counts {
  const count = (status: CheckStatus) => checks.filter((one) => one.status === status).length;
  return {
    ok: count('ok'),
    warning: count('warning'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

function doctorText(checks: readonly CheckResult[], counts: Counts): string {
  const rows = checks.flatMap(({ status, check, subject, found, fix }) => [
    [status, check, subject === undefined ? found : `${subject}: ${found}`],
    ...(fix === undefined ? [] : [['', '', `→ ${fix}`]]),
  ]);
  const { ok, warning, failed, skipped } = counts;
  const sum = `${ok} ok, ${warning} with a warning, ${failed} failed, ${skipped} skipped.`;
  return `${tableText(rows)}\n\n${sum}`;
}
