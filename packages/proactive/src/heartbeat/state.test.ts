import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatHeartbeatState,
  importChecks,
  listLastRuns,
  readHeartbeatState,
  updateTask,
} from './state.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

describe('heartbeat-state.json', () => {
  it('[H02] is parsed and written in a human-readable form', () => {
    const text = `{
  "tasks": {
    "mail": {
      "lastRun": "2026-11-21T12:00:00.000Z",
      "cadenceMin": 30,
      "seen": 1
    }
  },
  "version": 3
}
`;
    const { state, repairs } = readHeartbeatState(text);
    expect(repairs).toEqual([]);
    expect(state.tasks.get('mail')).toEqual({
      lastRun: NOON,
      cadenceMin: 30,
      more: { seen: 1 },
    });
    expect(formatHeartbeatState(state)).toBe(text);
  });

  it.each([
    ['nothing', '', null, 0],
    ['text that is not JSON', '{"tasks":', null, 1],
    ['a list', '[1]', null, 1],
    ['tasks that are a list', '{"tasks":[]}', null, 0],
    ['a task that is a string', '{"tasks":{"a":"x"}}', null, 1],
    ['ms', `{"tasks":{"a":{"lastRun":${NOON}}}}`, NOON, 0],
    ['seconds', `{"tasks":{"a":{"lastRun":${NOON / 1000}}}}`, NOON, 0],
    ['another zone', '{"tasks":{"a":{"lastRun":"2026-11-21T13:00:00+01:00"}}}', NOON, 0],
    ['a task that never ran', '{"tasks":{"a":{"lastRun":null}}}', null, 0],
    ['words for a time', '{"tasks":{"a":{"lastRun":"noon"}}}', null, 1],
    ['a time before the first valid one', '{"tasks":{"a":{"lastRun":-1}}}', null, 1],
    ['a time beyond the last valid one', '{"tasks":{"a":{"lastRun":1e300}}}', null, 1],
    ['words for a cadence', `{"tasks":{"a":{"lastRun":${NOON},"cadenceMin":"x"}}}`, NOON, 1],
    ['a byte order mark', `\ufeff{"tasks":{"a":{"lastRun":${NOON}}}}`, NOON, 0],
  ])('[H02] with %s is parsed or repaired', (_what, text, lastRun, repairs) => {
    const read = readHeartbeatState(text);
    expect(read.state.tasks.get('a')?.lastRun ?? null).toBe(lastRun);
    expect(read.repairs).toHaveLength(repairs);
  });

  it('[H02] keeps all other content when it records a run', () => {
    const { state } = readHeartbeatState('{"tasks":{"a":{"x":1},"b":{}},"c":2}');
    const next = updateTask(state, 'a', { lastRun: NOON, cadenceMin: 5 });
    expect(JSON.parse(formatHeartbeatState(next))).toEqual({
      tasks: {
        a: { lastRun: '2026-11-21T12:00:00.000Z', cadenceMin: 5, x: 1 },
        b: { lastRun: null },
      },
      c: 2,
    });
  });

  it.each([
    [
      'a check named "tasks"',
      { tasks: { lastRun: NOON / 1000, cadenceMin: 30 }, mail: { lastRun: NOON } },
    ],
    ['moments in place of entries', { tasks: { a: '2026-11-21T12:00:00Z', b: NOON } }],
    [
      'entries that are not understood',
      { tasks: { a: 'x', b: { lastRun: 'noon', cadenceMin: 'x' } } },
    ],
    ['no object', [1, { a: 2 }]],
    ['a number for tasks', { tasks: NOON, version: 1 }],
  ])('[H11] with %s does not lose content when a run is recorded', (_what, file) => {
    const { state } = readHeartbeatState(JSON.stringify(file));
    const text = formatHeartbeatState(updateTask(state, 'new', { lastRun: NOON, cadenceMin: 5 }));
    const leaves = (value: unknown): readonly unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
    const written = leaves(JSON.parse(text));
    for (const leaf of leaves(file)) {
      const iso =
        typeof leaf === 'string' && Date.parse(leaf) === NOON ? new Date(NOON).toISOString() : leaf;
      expect([leaf, iso, new Date(NOON).toISOString()].some((one) => written.includes(one))).toBe(
        true,
      );
    }
    expect(listLastRuns(readHeartbeatState(text).state).get('new')).toBe(NOON);
  });

  it('[H11] is kept as text when a run is recorded, if it is not JSON', () => {
    const { state, repairs } = readHeartbeatState('{"lastChecks": {"mail": 17');
    expect(repairs).toHaveLength(1);
    expect(JSON.parse(formatHeartbeatState(state))).toMatchObject({
      unread: '{"lastChecks": {"mail": 17',
    });
  });

  it('[H02] can be parsed from any content, and is the same after it was written and parsed again', () => {
    const task = fc.record(
      {
        lastRun: fc.oneof(fc.jsonValue(), fc.nat()),
        cadenceMin: fc.jsonValue(),
        more: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const name = fc.string().filter((text) => text !== '__proto__');
    const file = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.record({ tasks: fc.dictionary(name, task) }).map((value) => JSON.stringify(value)),
      fc.string(),
    );
    fc.assert(
      fc.property(file, (text) => {
        const { state } = readHeartbeatState(text);
        expect(readHeartbeatState(formatHeartbeatState(state))).toEqual({ state, repairs: [] });
      }),
    );
  });

  const EMAIL = 1_703_275_200;
  it.each<[string, object, readonly string[], Readonly<Record<string, number>>]>([
    [
      'lastChecks',
      { lastChecks: { email: EMAIL, news: null } },
      ['email', 'news'],
      { email: EMAIL },
    ],
    ['no more than names and times', { email: EMAIL, version: 'x' }, ['email'], { email: EMAIL }],
    [
      'times as text',
      { lastChecks: { email: '2023-12-22T20:00:00Z' } },
      ['Email'],
      { Email: EMAIL },
    ],
    ['ms', { lastChecks: { email: EMAIL * 1000 } }, ['email'], { email: EMAIL }],
    ['an entry each', { email: { lastRun: EMAIL } }, ['email'], { email: EMAIL }],
    [
      'keys of other spellings',
      { lastChecks: { email: EMAIL, memoryReview: EMAIL + 1, calendar: EMAIL + 2 } },
      ['Urgent emails', 'Memory review', 'Weather'],
      { 'Urgent emails': EMAIL, 'Memory review': EMAIL + 1 },
    ],
    [
      'one task for all',
      { lastChecks: { email: EMAIL, news: EMAIL + 9 } },
      ['heartbeat'],
      { heartbeat: EMAIL + 9 },
    ],
    [
      'a run of its own',
      { lastChecks: { a: EMAIL }, tasks: { a: { lastRun: 2e9 } } },
      ['a'],
      { a: 2e9 },
    ],
    [
      'a cadence that one task has',
      { system: { lastRun: EMAIL, cadenceMin: 1440 } },
      ['圆顶'],
      { 圆顶: EMAIL },
    ],
    [
      'a cadence that two tasks have',
      { system: { lastRun: EMAIL, cadenceMin: 1440 } },
      ['a', 'b'],
      {},
    ],
    ['nothing that is a time', { lastChecks: { a: 'soon', b: -1 }, c: true }, ['a', 'b', 'c'], {}],
  ])('[H02] [W01] is imported from another agent’s file with %s', (_what, file, names, runs) => {
    const { state, repairs } = readHeartbeatState(JSON.stringify(file));
    expect(repairs).toEqual([]);
    const cadence = { kind: 'days', days: 1 } as const;
    const taken = importChecks(
      state,
      names.map((name) => ({ name, cadence })),
    );
    const seconds = [...listLastRuns(taken)].map(([name, ms]) => [name, ms / 1000]);
    expect(Object.fromEntries(seconds)).toEqual(runs);
    const { tasks: _, ...others } = { tasks: {}, ...file };
    expect(JSON.parse(formatHeartbeatState(taken))).toMatchObject(others);
  });
});
