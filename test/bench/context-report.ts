import type { TalkCost } from './long-talk.ts';
import { WINDOW } from './long-talk.ts';
import { type ContextFigures, type PastCost, TURNS } from './measure-context.ts';
import { round, table } from './report.ts';

/** The later half of a conversation may cost so much more than the earlier one; of quadratic cost it is three times. */
const LINEAR = 1.5;

/** The tables of the context section, for people. */
export function renderContext({ compacting, leavingOut, pasts }: ContextFigures): string {
  const title = `${TURNS} turns, a window of ${WINDOW} tokens`;
  const ways = [
    [title, 'tokens in all', 'first 50, each', 'last 50, each', 'largest', '2nd half : 1st', ''],
    [
      `Parley, ${compacting.summaries.length} summaries`,
      ...costs(compacting.turns, compacting),
      met(compacting.turns),
    ],
    ['without summaries: the oldest is left out', ...costs(leavingOut.turns), ''],
    ['everything is sent', ...costs(compacting.everything), ''],
  ];
  const times = [
    ['turns that are stored', ...pasts.map(({ turns }) => String(turns))],
    row('the past of a request, summed up', pasts, ({ summedUp }) => summedUp),
    row('the same, not summed up yet', pasts, ({ newest }) => newest),
    row('everything', pasts, ({ everything }) => everything),
  ];
  return [table(ways), '', table(times)].join('\n');
}

function costs(turns: readonly number[], { summaries }: Partial<TalkCost> = {}): string[] {
  const mean = (of: readonly number[]) => (sum(of) / of.length).toFixed(0);
  const all = sum(turns) + sum(summaries ?? []);
  const largest = String(Math.max(...turns));
  const ratio = round(growth(turns));
  return [String(all), mean(turns.slice(0, 50)), mean(turns.slice(-50)), largest, ratio];
}

function growth(turns: readonly number[]): number {
  const half = turns.length / 2;
  return sum(turns.slice(half)) / sum(turns.slice(0, half));
}

function met(turns: readonly number[]): string {
  const fits = Math.max(...turns) <= WINDOW && growth(turns) <= LINEAR;
  return fits ? 'linear, fits' : 'MISSED';
}

function row(
  name: string,
  pasts: readonly PastCost[],
  of: (past: PastCost) => PastCost['newest'],
): string[] {
  return [name, ...pasts.map((past) => `${round(of(past).median)} ms (${round(of(past).p95)})`)];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
