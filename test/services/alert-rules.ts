import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';

const DOCUMENT = resolve(import.meta.dirname, '../../docs/metrics.md');
/** How long the last scrape remains valid, in minutes: longer than the range of any rule. */
const HELD = 16;

/** The `/metrics` text of each process, by process name, at one moment. */
export type ProcessScrapes = Readonly<Record<string, string>>;

/** The rules that docs/metrics.md recommends, and the names of their alerts. */
export function readDocumentedRules(): {
  readonly yaml: string;
  readonly alerts: readonly string[];
} {
  const [, yaml = ''] = /```yaml\n(groups:[\s\S]*?)```/.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  return { yaml, alerts: [...yaml.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name) };
}

/** Returns the documented alerts that fire at any time when each scrape stays valid for a while. */
export function listFiredAlerts(
  promtool: string,
  moments: readonly ProcessScrapes[],
): readonly string[] {
  const { yaml, alerts } = readDocumentedRules();
  const folder = mkdtempSync(join(tmpdir(), 'parley-alerts-'));
  const length = moments.length * HELD;
  const times = Array.from({ length }, (_, minute) => `${minute}m`);
  const test = {
    interval: '1m',
    input_series: toSeries(moments),
    alert_rule_test: times.flatMap((eval_time) =>
      alerts.map((alertname) => ({ eval_time, alertname, exp_alerts: [] })),
    ),
  };
  writeFileSync(join(folder, 'rules.yml'), yaml);
  const file = join(folder, 'test.yml');
  writeFileSync(file, stringify({ rule_files: ['rules.yml'], tests: [test] }));
  const { stdout, stderr, status } = spawnSync(promtool, ['test', 'rules', file], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  });
  rmSync(folder, { recursive: true, force: true });
  const fired = [...`${stdout}${stderr}`.matchAll(/alertname: ?(\w+), time:/g)];
  if (status !== 0 && fired.length === 0) throw new Error(`promtool: ${stdout}${stderr}`);
  return [...new Set(fired.map(([, name = '']) => name))].toSorted();
}

function toSeries(moments: readonly ProcessScrapes[]): readonly object[] {
  const values = new Map<string, string[]>();
  for (const [nth, scrapes] of moments.entries()) {
    for (const [instance, text] of Object.entries(scrapes)) {
      for (const [, name, labels = '', value = ''] of text.matchAll(
        /^(\w+)(?:\{(.*)\})? (\S+)$/gm,
      )) {
        const series = `${name}{${[`instance="${instance}"`, ...(labels ? [labels] : [])].join(',')}}`;
        const all = values.get(series) ?? moments.map(() => '_');
        all[nth] = value;
        values.set(series, all);
      }
    }
  }
  return [...values].map(([series, all]) => ({
    series,
    values: all.flatMap((value) => Array.from({ length: HELD }, () => value)).join(' '),
  }));
}
