import type { BeatDays } from './month-of-beats.ts';
import { table } from './report.ts';

/** The tables of the heartbeat section, for people. */
export function renderHeartbeat(figures: BeatDays): string {
  const { days, beats, runs, tasks, beatTokens, turnTokens, shared, tokensOfADay } = figures;
  const ways = [
    [`${days} days, 5 tasks, a beat every 30 minutes`, 'model calls', 'tokens', 'a day'],
    ['Parley', ...costs(figures.calls, figures.tokens, days)],
    [
      'all tasks in the shared session, 24,000 of history',
      ...costs(shared.calls, shared.cutOff, days),
    ],
    ['the same with all of its history', ...costs(shared.calls, shared.everything, days)],
  ];
  const facts = [
    ['of Parley', ''],
    ['beats; without a due task no call', String(beats)],
    ['runs by task', listed(tasks)],
    ['what came of them', listed(runs)],
    ['told to the owner', String(figures.alerts.length)],
    ['tokens of the dearest day', grouped(tokensOfADay)],
    ['the largest request of a run, in tokens', grouped(beatTokens)],
    ['an owner’s turn in a new session, in tokens', grouped(turnTokens)],
  ];
  return [table(ways), '', table(facts)].join('\n');
}

function costs(calls: number, tokens: number, days: number): string[] {
  return [grouped(calls), grouped(tokens), grouped(Math.round(tokens / days))];
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** With commas between thousands. */
function grouped(count: number): string {
  return count.toLocaleString('en');
}
