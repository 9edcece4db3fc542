import { type IdleRuntime, openIdleRuntime } from '@parley/cli/idle-runtime';
import { isFullRun } from '@parley/core/testing';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createChance } from '../privacy/chance.ts';
import { createFreshDatabase } from '../services/fresh-database.ts';

const MINUTE = 60_000;
const BEATS = 40;
/** The time for both on a busy machine, in ms. */
const SLOW_MS = 240_000;
const BEGIN = Date.parse('2026-10-24T00:00:00Z');
const SETTINGS = {
  agent: { timeZone: 'Europe/Berlin' },
  heartbeat: { quietHours: 'off', tokensPerDay: 100_000_000 },
};
const postgresUrl = inject('postgresUrl');

class Died extends Error {}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Two processes on one database and one workspace, which die at random points while `isDeadly`. */
async function openTwo(store: object) {
  const random = createChance(7);
  const state = { isDeadly: true, deaths: new Map<string, number>() };
  const spared = new Map<string, number>();
  const pass = (point: string) => {
    if (!state.isDeadly) return;
    // With two racing processes, the random choices differ between runs, so a point that was
    // skipped for a long time is tested next.
    const passed = (spared.get(point) ?? 0) + 1;
    spared.set(point, passed);
    const isDue = passed >= 8 && !state.deaths.has(point);
    if (!random.happens(0.15) && !isDue) return;
    state.deaths.set(point, (state.deaths.get(point) ?? 0) + 1);
    throw new Died(point);
  };
  const script: Parameters<typeof openIdleRuntime>[2] = ({ messages }) =>
    `Found at ${/beat_main_\d+/.exec(messages.at(-1)?.content ?? '')?.[0]}.`;
  const settings = { ...SETTINGS, ...store };
  const one = await openIdleRuntime(settings, BEGIN, script, { pass });
  closing.push(() => one.close());
  const two = await openIdleRuntime(settings, BEGIN, script, { pass, folder: one.folder });
  closing.push(() => two.close());
  return { both: [one, two] as const, random, state };
}

/** Runs the heartbeat like a process does, and continues in a new process after each end. */
async function look(parley: IdleRuntime): Promise<void> {
  try {
    await parley.runDue();
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  }
}

async function prove(store: object): Promise<void> {
  const { both, random, state } = await openTwo(store);
  const [one] = both;
  const at = (ms: number) => {
    for (const parley of both) parley.at(ms);
  };
  state.isDeadly = false;
  one.put('HEARTBEAT.md', '## mail\n- every: 30 min\n- do: Look for mail.\n');
  await one.say('Hello');
  await one.runDue();
  for (let beat = 1; beat <= BEATS; beat += 1) {
    const due = BEGIN + beat * 30 * MINUTE;
    state.isDeadly = true;
    at(due + random.below(10_000));
    const lookers = random.happens(0.5) ? both : [random.pick(both)];
    await Promise.all(lookers.map(look));
    at(due + 2 * MINUTE);
    await Promise.all(both.map(look));
    state.isDeadly = false;
    at(due + 4 * MINUTE);
    await look(one);
  }
  const runs = (await one.store.heartbeats.recent('main', 2 * BEATS)).toReversed();
  const wanted = Array.from(runs, (_, nth) => `beat_main_${BEGIN + (nth + 1) * 30 * MINUTE}`);
  expect(runs.map(({ id }) => id)).toEqual(wanted);
  expect(runs).toHaveLength(BEATS);
  expect(new Set(runs.map(({ state: ended }) => ended))).toEqual(new Set(['alerted']));
  const chat = { channel: 'web', account: 'default', chatId: 'owner' };
  const told = (await one.store.outbox.recent(chat, 2 * BEATS))
    .map(({ part }) => part.body.text)
    .filter((text) => text.includes('⚙️'));
  expect(told.map((text) => /beat_main_\d+/.exec(text)?.[0])).toEqual(wanted);
  expect([...state.deaths.keys()].toSorted()).toEqual([
    ...['after begin', 'after commit', 'before begin', 'before commit', 'deliver'],
  ]);
}

describe('two processes that die at random', () => {
  it(
    `[H01] [H04] neither miss nor duplicate any of ${BEATS} heartbeats on SQLite`,
    () => prove({}),
    SLOW_MS,
  );

  if (isFullRun())
    it.runIf(postgresUrl)(
      `[H01] [H04] neither miss nor duplicate any of ${BEATS} heartbeats on PostgreSQL`,
      async () => {
        const database = await createFreshDatabase(postgresUrl ?? '');
        closing.push(() => database.drop());
        await prove({ store: { url: database.url } });
      },
      SLOW_MS,
    );
});
