import type { Aim, Figure } from './figure.ts';
import { type MachineFacts, QUIET_LOAD } from './machine.ts';
import { type Summary, summarise } from './statistics.ts';

/** A figure with its rounds summed up. */
export interface SummedFigure extends Omit<Figure, 'values'> {
  readonly parley: Summary;
  readonly bare: Summary;
  /** Whether Parley's median reached the aim; absent without one. */
  readonly met?: boolean;
}

/** Sums the rounds of a figure up and compares with the aim. */
export function sumUp({ values, ...about }: Figure): SummedFigure {
  const parley = summarise(values.parley);
  const { aim } = about;
  const met = aim && reaches(parley.median, aim);
  return { ...about, parley, bare: summarise(values.bare), ...(met === undefined ? {} : { met }) };
}

/** The table for people: medians, and behind them the least and the most of all rounds. */
export function renderTable(figures: readonly SummedFigure[]): string {
  const head = ['', 'Parley', '', 'bare telegraf', '', 'difference', 'aim', ''];
  const rows = figures.map(({ name, unit, parley, bare, aim, met }) => [
    name,
    `${round(parley.median)} ${unit}`,
    spread(parley),
    `${round(bare.median)} ${unit}`,
    spread(bare),
    signed(parley.median - bare.median),
    aim ? `${aim.kind === 'at-most' ? '≤' : '≥'} ${aim.value}` : '',
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ]);
  return table([head, ...rows]);
}

/** Rows in columns: the first to the left, all others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

/** Where the figures come from, and a warning when others were using the machine. */
export function renderMachine(machine: MachineFacts): string {
  const { cores, cpu, memoryGb, node, commit, load } = machine;
  const facts = `${cores} cores of ${cpu}, ${memoryGb} GB, Node ${node}, Parley ${commit}, load ${load.toFixed(2)} at the start`;
  if (load <= QUIET_LOAD) return facts;
  return `${facts}\nWARNING: the machine was busy with other things (load above ${QUIET_LOAD}); take these figures as an upper bound of time.`;
}

function reaches(value: number, aim: Aim): boolean {
  return aim.kind === 'at-most' ? value <= aim.value : value >= aim.value;
}

function spread({ least, most }: Summary): string {
  return `(${round(least)}–${round(most)})`;
}

function signed(value: number): string {
  return value < 0 ? `−${round(-value)}` : `+${round(value)}`;
}

/** Three digits that count, as the noise allows no more. */
export function round(value: number): string {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : value.toFixed(3);
}
