import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/** A Markdown table, aligned for terminals: the first column left, all others right. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => {
    const padded = widths.map((width, column) => {
      const cell = cells[column] ?? '';
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [head, rule, ...body].map(line).join('\n');
}

/** Describes the machine, and warns when it was busy. */
export function renderMachine(machine: MachineFacts): string {
  const { cores, cpu, memoryGb, node, commit, load } = machine;
  const facts = `${cores} cores of ${cpu}, ${memoryGb} GB, Node ${node}, Parley ${commit}, load ${load.toFixed(2)} at the start`;
  if (load <= QUIET_LOAD) return facts;
  return `${facts}\nWARNING: the machine was busy with other things (load above ${QUIET_LOAD}); take these figures as an upper bound of time.`;
}

/** Three significant digits, because the noise does not allow more. */
export function formatRounded(value: number): string {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : value.toFixed(3);
}

/** The summary of several rounds of one measurement. */
export interface RoundSummary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Throws for an empty list. */
export function summarizeRounds(values: readonly number[]): RoundSummary {
  return {
    median: computeQuantile(values, 0.5),
    least: computeQuantile(values, 0),
    most: computeQuantile(values, 1),
  };
}

/** The value below which `share` (0 to 1) of the values lie, interpolated between neighbors. */
export function computeQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error('No values to sum up.');
  return below + (above - below) * (place - Math.floor(place));
}

/** The slope of `ys` over `xs`, by least squares. */
export function computeSlope(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, x, at) => sum + (x - meanX) * ((ys[at] ?? 0) - meanY), 0);
  return above / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

/** Conditions that affect the results besides the code. */
export interface MachineFacts {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly commit: string;
  /** Processes that wanted a core in the last minute, at the start of the run. */
  readonly load: number;
}

/** Above this load the machine is busy, and results are worse than they should be. */
export const QUIET_LOAD = 0.5;

/** Reads information about this machine. */
export function readMachineFacts(): MachineFacts {
  const all = cpus();
  return {
    cores: all.length,
    cpu: all[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    commit: readCommit(),
    load: loadavg()[0] ?? 0,
  };
}

function readCommit(): string {
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], options).trim();
  } catch {
    return 'unknown'; // A copy without a Git folder can be measured, too.
  }
}
