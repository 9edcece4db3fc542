import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IdleRuntime, openIdleRuntime, type RecordedRequest } from '@parley/cli/idle-runtime';
import { renderTable } from './report.ts';

/** The totals of several days of heartbeats. */
export interface BeatDays {
  readonly days: number;
  /** Heartbeats, whether a task was due or not. */
  readonly beats: number;
  /** Model calls, and the tokens of their requests and answers. */
  readonly calls: number;
  readonly tokens: number;
  /** The tokens of the most expensive day. */
  readonly tokensOfADay: number;
  /** Runs by outcome. */
  readonly runs: Readonly<Record<string, number>>;
  /** Runs by task. */
  readonly tasks: Readonly<Record<string, number>>;
  /** The alerts sent to the owner. */
  readonly alerts: readonly string[];
  /** Tokens of one run's request, and of an owner's turn in a new session. */
  readonly beatTokens: number;
  readonly turnTokens: number;
  readonly shared: SharedSession;
}

/**
 * The alternative: every 30 minutes, all tasks are given to the model in the owner's own session,
 * with its history. The owner's messages are not counted.
 */
export interface SharedSession {
  readonly calls: number;
  /** With the whole history, and with as much of it as Parley would show. */
  readonly everything: number;
  readonly cutOff: number;
}

const TEMPLATE = join(import.meta.dirname, '../../config/workspace/HEARTBEAT.md');
const ZONE = 'Europe/Vienna';
const HALF_HOUR = 30 * 60_000;
const DAY = 48 * HALF_HOUR;
/** How much history Parley shows, in tokens. */
const HISTORY = 24_000;

/** The example tasks of a new workspace, switched on. */
export function readExampleTasks(): string {
  const text = readFileSync(TEMPLATE, 'utf8');
  return text.slice(text.indexOf('## mail'), text.indexOf('-->'));
}

/**
 * Simulates this many days from 1 March 2026 in Vienna, where daylight saving time starts on the
 * 29th, with the real engine, prompt, runner and database, and a model that occasionally has
 * something to report.
 */
export async function simulateBeatDays(days: number, settings: object = {}): Promise<BeatDays> {
  const begin = Date.parse('2026-02-28T23:00:00Z');
  const agent = { timeZone: ZONE };
  const parley = await openIdleRuntime({ agent, ...settings }, begin, createAnswer);
  try {
    parley.put('HEARTBEAT.md', readExampleTasks());
    await parley.say('Hello');
    const beats = await runBeats(parley, begin + days * DAY);
    return await sumBeats(parley, days, beats);
  } finally {
    await parley.close();
  }
}

/** Runs every heartbeat until the given time; returns their number. */
async function runBeats(parley: IdleRuntime, end: number): Promise<number> {
  let beats = -1;
  for (let next: number | null = parley.now(); next !== null && next <= end; ) {
    parley.at(next);
    next = await parley.runDue();
    beats += 1;
  }
  return beats;
}

/** Two tasks report something once a day; the disk stays full for days. */
function createAnswer({ system }: RecordedRequest['request'], now: number): string {
  const task = /^Task: (.*)$/m.exec(system.map(({ text }) => text).join('\n'))?.[1];
  if (task === undefined) return 'Hello.';
  const [day = '', hour = ''] = new Date(now).toISOString().split(/[T:]/);
  if (task === 'mail' && hour === '14') return `On ${day} the bank wrote: the card was used twice.`;
  if (task === 'calendar' && hour === '07') return `HEARTBEAT_OK\n\nOn ${day} nothing collides.`;
  if (task === 'calendar' && hour >= '12') return `On ${day} the dentist moved to 18:00.`;
  if (task === 'health') return 'The disk is 91 % full.';
  return 'HEARTBEAT_OK';
}

async function sumBeats(parley: IdleRuntime, days: number, beats: number): Promise<BeatDays> {
  const [turn, ...asked] = parley.asked;
  const runs = (await parley.store.heartbeats.recent('main', 48 * days)).toReversed();
  const told = runs.filter(({ state }) => state === 'alerted' || state === 'held');
  const ofDay = new Map<string, number>();
  for (const { startedAt, inputTokens, outputTokens } of runs) {
    const day = new Date(startedAt).toLocaleDateString('en', { timeZone: ZONE });
    ofDay.set(day, (ofDay.get(day) ?? 0) + inputTokens + outputTokens);
  }
  const turnTokens = turn?.tokens ?? 0;
  return {
    days,
    beats,
    calls: asked.length,
    tokens: runs.reduce((sum, run) => sum + run.inputTokens + run.outputTokens, 0),
    tokensOfADay: Math.max(...ofDay.values()),
    runs: countNames(runs.map(({ state }) => state)),
    tasks: countNames(runs.map(({ task }) => task)),
    alerts: told.map(({ alert }) => alert ?? ''),
    beatTokens: Math.max(...asked.map(({ tokens }) => tokens)),
    turnTokens,
    shared: computeSharedSession(days, turnTokens),
  };
}

function computeSharedSession(days: number, turnTokens: number): SharedSession {
  const calls = 48 * days;
  // A quarter of the characters, as in all token estimates.
  const asked = Math.ceil(readExampleTasks().length / 4);
  const answered = 5;
  let said = 0;
  let everything = 0;
  let cutOff = 0;
  for (let call = 0; call < calls; call += 1) {
    everything += turnTokens + asked + said + answered;
    cutOff += turnTokens + asked + Math.min(said, HISTORY) + answered;
    said += asked + answered;
  }
  return { calls, everything, cutOff };
}

function countNames(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

export function renderHeartbeat(figures: BeatDays): string {
  const { days, beats, runs, tasks, beatTokens, turnTokens, shared, tokensOfADay } = figures;
  const ways = [
    [`${days} days, 5 tasks, a beat every 30 minutes`, 'model calls', 'tokens', 'a day'],
    ['Parley', ...formatCosts(figures.calls, figures.tokens, days)],
    [
      'all tasks in the shared session, 24,000 of history',
      ...formatCosts(shared.calls, shared.cutOff, days),
    ],
    ['the same with all of its history', ...formatCosts(shared.calls, shared.everything, days)],
  ];
  const facts = [
    ['of Parley', ''],
    ['beats; without a due task no call', String(beats)],
    ['runs by task', formatCounts(tasks)],
    ['what came of them', formatCounts(runs)],
    ['told to the owner', String(figures.alerts.length)],
    ['tokens of the dearest day', formatGrouped(tokensOfADay)],
    ['the largest request of a run, in tokens', formatGrouped(beatTokens)],
    ['an owner’s turn in a new session, in tokens', formatGrouped(turnTokens)],
  ];
  return [renderTable(ways), '', renderTable(facts)].join('\n');
}

function formatCosts(calls: number, tokens: number, days: number): string[] {
  return [formatGrouped(calls), formatGrouped(tokens), formatGrouped(Math.round(tokens / days))];
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** Formats a number with commas between thousands. */
function formatGrouped(count: number): string {
  return count.toLocaleString('en');
}
