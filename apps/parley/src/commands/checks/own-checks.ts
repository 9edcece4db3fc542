import type { ClockSkew } from '@parley/channels/probe';
import { describeProblem, type SettingsProblem } from '@parley/settings';
import { listOldNames } from '@parley/settings/upgrade';
import { formatCommandLine } from '../../data-folder.ts';
import { getVersionInfo, NODE_NEEDED } from '../../version.ts';
import {
  type Check,
  type CheckFinding,
  createFailureFinding,
  defineDoctorCheck,
  failed,
  ok,
  skipped,
  warning,
} from './check.ts';
import type { FactsFor } from './facts.ts';

export const OWN_CHECKS: readonly Check[] = [
  defineDoctorCheck([], {
    id: 'version',
    title: 'This version of Node is recent enough for Parley.',
    run() {
      const { parley, node, sqlite, from } = getVersionInfo();
      const text = `Parley ${parley}${from}, Node ${node}, SQLite ${sqlite}`;
      if (Number(node.split('.')[0]) >= NODE_NEEDED) return [ok(text)];
      return [failed(text, `Install Node ${NODE_NEEDED} or newer.`)];
    },
  }),
  defineDoctorCheck(['config', 'gateway'], {
    id: 'settings',
    title: 'The settings are valid, in use and free of deprecated names, and all plugins work.',
    run: checkSettingsFile,
  }),
  defineDoctorCheck(['gateway'], {
    id: 'gateway',
    title:
      'The gateway on this data folder answers and is ready. All its processes have the same version and settings.',
    run: checkGateway,
  }),
];

/** Compares this machine's clock with the server times that other checks received. */
export const CLOCK_CHECK = defineDoctorCheck(['network'], {
  id: 'clock',
  title: "This machine's clock agrees with the clocks of the model provider and the channels.",
  last: true,
  run: ({ clocks }) => checkClocks(clocks),
});

type SettingsCheckFacts = FactsFor<'config' | 'gateway'>;

/** Returns the settings problems that `parley config check` reports. */
function checkSettingsFile(facts: SettingsCheckFacts): readonly CheckFinding[] {
  const { folder, checked, pluginReport } = facts;
  const { settingsFile } = folder;
  if (checked.kind === 'unreadable') return [createFailureFinding(checked.error)];
  const correct = `Correct ${settingsFile}; "${formatCommandLine('config check', folder)}" shows the line.`;
  const broken =
    checked.kind === 'ok'
      ? Object.values(checked.channels).flatMap((one) =>
          one.kind === 'broken' ? one.problems : [],
        )
      : checked.problems;
  const findings = [
    ...broken.map((problem) => failed(formatOneLine(problem), correct)),
    ...checked.warnings.map((problem) =>
      (problem.kind === 'no-effect' ? failed : warning)(formatOneLine(problem), correct),
    ),
    ...pluginReport
      .filter(({ works }) => !works)
      .map(({ line }) =>
        warning(`the plugin ${line}`, 'Fix the plugin or remove it from the settings.'),
      ),
    ...listOldNames(settingsFile).map((renamed) =>
      warning(
        `${renamed} (a deprecated name that still works)`,
        `Run "${formatCommandLine('config upgrade', folder)}".`,
      ),
    ),
    ...findUnappliedSettings(facts),
  ];
  if (findings.length > 0) return findings;
  const isThere = checked.kind === 'ok' && checked.origin === 'file';
  return [
    ok(isThere ? `${settingsFile} is fine` : `${settingsFile} does not exist; the defaults apply`),
  ];
}

/** Returns the differences between the settings in the file and those of the running gateway. */
function findUnappliedSettings({ checked, gateway }: SettingsCheckFacts): readonly CheckFinding[] {
  if (gateway.kind !== 'runs' || checked.kind !== 'ok') return [];
  const { afterRestart, problems } = gateway.status.settings;
  const restart = 'Restart Parley with the same environment variables.';
  return [
    ...problems.map((problem) => warning(`the running gateway cannot use it: ${problem}`, restart)),
    ...(afterRestart.length === 0
      ? []
      : [warning(`${afterRestart.join(', ')} will take effect at the next start`, restart)]),
  ];
}

/** Formats a settings problem on one line, without the excerpt from the file. */
function formatOneLine({ excerpt: _excerpt, ...problem }: SettingsProblem): string {
  return describeProblem(problem)
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .replaceAll(/ {2,}/g, ' ');
}

function checkGateway({ folder, gateway }: FactsFor<'gateway'>): readonly CheckFinding[] {
  if (gateway.kind === 'none') return [skipped('no gateway is running on this data folder')];
  const where = `process ${gateway.at.pid} at ${gateway.at.address}`;
  if (gateway.kind === 'silent') {
    const advice = `If it hangs, end process ${gateway.at.pid} and restart Parley. Nothing is lost.`;
    return [failed(`${where} does not answer: ${gateway.reason}`, advice)];
  }
  const { health, processes } = gateway.status;
  const strange = processes.flatMap(({ role, host, pid, notes }) =>
    notes.map((note) =>
      warning(
        `${role} on ${host} (${pid}): ${note}`,
        'Run all processes with the same version and settings.',
      ),
    ),
  );
  if (health.status === 'ready') return [ok(`${where} is ready`), ...strange];
  const reasons = health.reasons.join('; ');
  const result = health.status === 'down' ? failed : warning;
  const advice = `See the checks below and "${formatCommandLine('status', folder)}".`;
  return [result(`${where} is ${health.status}: ${reasons}`, advice), ...strange];
}

/** With a clock error of this size (ms), reminders are noticeably late or early. */
const WRONG_MS = 5_000;
/** With a clock error of this size (ms), servers refuse certificates and logins. */
const FAR_OFF_MS = 5 * 60_000;

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/;

/**
 * Compares this machine's clock with those of the servers that answered. The server clock closest
 * to this machine's clock is used, because a single server's clock may be wrong. Servers on this
 * machine are ignored, since they share its clock.
 */
export function checkClocks(readings: readonly ClockSkew[]): readonly CheckFinding[] {
  const outside = readings.filter(({ server }) => !LOOPBACK.test(server));
  const witnesses = outside.length > 0 ? outside : readings;
  const [best] = witnesses.toSorted((a, b) => Math.abs(a.aheadMs) - Math.abs(b.aheadMs));
  if (best === undefined) return [skipped('no answering server sent its time')];
  const { server, aheadMs } = best;
  const off = Math.abs(aheadMs);
  if (off < WRONG_MS) {
    if (outside.length === 0) return [skipped('only servers on this machine answered')];
    return [ok(`agrees with ${server}`)];
  }
  const found = `${Math.round(off / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${server}`;
  const advice =
    'Synchronize this machine\'s clock (NTP). On many systems, "timedatectl set-ntp true" does this.';
  return [(off < FAR_OFF_MS ? warning : failed)(found, advice)];
}
