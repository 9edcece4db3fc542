import type { SoakFigures } from './measure-soak.ts';
import { round, table } from './report.ts';
import type { Sample } from './soak-sample.ts';
import { slope } from './statistics.ts';

/** Before this share of the run is over, a process still learns and fills its caches. */
const WARM_UP = 0.4;
/** What a day may add to memory before it counts as growing, in MB. */
const FLAT_MB = 12;

/** Memory, files and tables over a day. */
export function renderSoak(figures: readonly SoakFigures[]): string {
  return figures
    .flatMap(({ topology, minutes, samples }) => [
      `${topology}: a day in ${minutes} minutes`,
      renderTimes(samples),
      renderTrend(samples, minutes),
      renderRows(samples),
    ])
    .join('\n\n');
}

/** About twelve lines of all samples. */
function renderTimes(samples: readonly Sample[]): string {
  const step = Math.max(1, Math.floor(samples.length / 12));
  const shown = samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
  const parts = Object.keys(samples[0]?.residentMb ?? {});
  const head = [
    'minute',
    ...parts.flatMap((part) => [`${part} MB`, 'heap', 'files']),
    'database MB',
  ];
  const rows = shown.map(({ atMs, residentMb, heapMb, files, databaseMb }) => [
    (atMs / 60_000).toFixed(1),
    ...parts.flatMap((part) => [
      (residentMb[part] ?? 0).toFixed(0),
      (heapMb[part] ?? 0).toFixed(0),
      String(files[part]),
    ]),
    round(databaseMb),
  ]);
  return table([head, ...rows]);
}

/** Least squares through what was seen after the warm-up; an hour is one of the run. */
function renderTrend(samples: readonly Sample[], minutes: number): string {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP));
  const parts = Object.keys(samples[0]?.residentMb ?? {});
  const hours = settled.map(({ atMs }) => atMs / 3_600_000);
  const row = (name: string, value: (sample: Sample) => number): string[] => {
    const perHour = slope(hours, settled.map(value));
    const perDay = (perHour * minutes) / 60;
    return [name, round(perHour), round(perDay), perDay <= FLAT_MB ? 'flat' : 'GROWS'];
  };
  return table([
    ['after the warm-up', 'MB an hour of the run', 'MB a day', ''],
    ...parts.flatMap((part) => [
      row(`${part}, resident`, ({ residentMb }) => residentMb[part] ?? 0),
      row(`${part}, heap`, ({ heapMb }) => heapMb[part] ?? 0),
    ]),
  ]);
}

/** The tables that have rows, and those that still grow in the second half. */
function renderRows(samples: readonly Sample[]): string {
  const last = samples.at(-1);
  const half = samples[Math.floor(samples.length / 2)];
  const rows = Object.entries(last?.rows ?? {})
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const atHalf = half?.rows[name] ?? 0;
      return [name, String(samples[0]?.rows[name] ?? 0), String(atHalf), String(count)];
    });
  return table([['rows of table', 'at the start', 'at noon', 'after the day'], ...rows]);
}
