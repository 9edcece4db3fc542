import { describe, expect, it } from 'vitest';
import { createZoneClock } from '../zone-clock.ts';
import { parseHeartbeatTasks } from './read-tasks.ts';
import { createExampleRunRequest, listDueTasks, listTaskOutlooks } from './run.ts';

const at = (iso: string) => Date.parse(iso);

interface Beat {
  readonly file: string;
  /** When each task last ran, by name. */
  readonly ran?: Readonly<Record<string, string>>;
  readonly now: string;
  readonly timeZone?: string;
}

/** Describes one heartbeat in a line: the task and its delay, or when the next task is due. */
function beat({ file, ran = {}, now, timeZone = 'Europe/Vienna' }: Beat): string {
  const { tasks, problems } = parseHeartbeatTasks(file);
  expect(problems).toEqual([]);
  const lastRuns = new Map(Object.entries(ran).map(([name, moment]) => [name, at(moment)]));
  const looking = { now: at(now), clock: createZoneClock(timeZone) };
  const { due, nextAt } = listDueTasks(tasks, lastRuns, looking);
  const [first] = due;
  if (first !== undefined) {
    return `${first.task.name} +${Math.floor((looking.now - first.since) / 60_000)}`;
  }
  const why = listTaskOutlooks(tasks, lastRuns, looking).map(({ next }) => next.kind);
  return `none (${why.join(', ')}) until ${nextAt === null ? 'never' : new Date(nextAt).toISOString().slice(0, 16)}`;
}

const task = (name: string, every: string, between = '0:00-24:00') =>
  `## ${name}\n- every: ${every}\n- between: ${between}\n- do: x\n`;
const MAIL = task('mail', '30 min', '9:00-21:00');
const NIGHT = task('night', '1 day', '22:00-2:00');
const THREE = '## three\n- every: daily at 3:00\n- do: x\n';
const GAP = task('gap', '1 day', '2:00-3:00');

it('[H02] a task never runs twice within five minutes, for any cadence', () => {
  const [mail] = parseHeartbeatTasks(MAIL).tasks;
  if (mail === undefined) throw new Error('no task');
  const often = { ...mail, cadence: { kind: 'minutes', minutes: 1 } } as const;
  const due = (now: string) =>
    listDueTasks([often], new Map([['mail', at('2026-11-21T12:00Z')]]), {
      now: at(now),
      clock: createZoneClock('Europe/Vienna'),
    }).due.length;
  expect([due('2026-11-21T12:04:59Z'), due('2026-11-21T12:05Z')]).toEqual([0, 1]);
});

type Row = readonly [what: string, beat: Beat, said: string];

const MONDAY = '## plan\n- every: Monday at 10:00\n- do: x\n';
const WORKDAYS = '## desk\n- every: weekdays\n- between: 9:00-17:00\n- do: x\n';
const RENT = '## rent\n- every: 1st of the month\n- do: x\n';
const BINS = '## bins\n- every: 2 weeks on Friday\n- do: x\n';

/** 21 November 2026 is a Saturday. */
const onDays: readonly Row[] = [
  [
    'a Monday, on a Saturday',
    { file: MONDAY, now: '2026-11-21T12:00Z' },
    'none (not-yet) until 2026-11-23T09:00',
  ],
  ['a Monday, on it', { file: MONDAY, now: '2026-11-23T09:30Z' }, 'plan +30'],
  [
    'a Monday that had its run',
    { file: MONDAY, ran: { plan: '2026-11-23T09:00Z' }, now: '2026-11-23T12:00Z' },
    'none (done) until 2026-11-30T09:00',
  ],
  [
    'a Monday, with a run on request on a Sunday',
    { file: MONDAY, ran: { plan: '2026-11-22T12:00Z' }, now: '2026-11-23T10:00Z' },
    'plan +60',
  ],
  [
    'a Monday that was slept through',
    { file: MONDAY, ran: { plan: '2026-11-16T09:00Z' }, now: '2026-11-24T10:00Z' },
    'none (out-of-hours) until 2026-11-30T09:00',
  ],
  [
    'workdays, on a Friday evening',
    { file: WORKDAYS, ran: { desk: '2026-11-20T09:00Z' }, now: '2026-11-20T18:00Z' },
    'none (not-yet) until 2026-11-23T08:00',
  ],
  [
    'the first of a month, across the change of the clock',
    { file: RENT, ran: { rent: '2026-10-01T09:00Z' }, now: '2026-10-20T09:00Z' },
    'none (not-yet) until 2026-10-31T23:00',
  ],
  [
    'every second Friday',
    { file: BINS, ran: { bins: '2026-11-20T09:00Z' }, now: '2026-11-27T09:00Z' },
    'none (done) until 2026-12-03T23:00',
  ],
];

it.each(onDays)('[H11] a task whose times are %s', (_what, now, said) => {
  expect(beat(now)).toBe(said);
});

const ordinary: readonly Row[] = [
  ['no tasks', { file: '', now: '2026-11-21T12:00Z' }, 'none () until never'],
  ['a task that never ran', { file: MAIL, now: '2026-11-21T12:00Z' }, 'mail +240'],
  [
    'one that never ran, before its hours',
    { file: MAIL, now: '2026-11-21T07:00Z' },
    'none (not-yet) until 2026-11-21T08:00',
  ],
  [
    'one that ran a moment ago',
    { file: MAIL, ran: { mail: '2026-11-21T11:45Z' }, now: '2026-11-21T12:00Z' },
    'none (not-yet) until 2026-11-21T12:15',
  ],
  [
    'one whose time has come',
    { file: MAIL, ran: { mail: '2026-11-21T11:20Z' }, now: '2026-11-21T12:00Z' },
    'mail +10',
  ],
  [
    'one whose time came this very moment',
    { file: MAIL, ran: { mail: '2026-11-21T11:30Z' }, now: '2026-11-21T12:00Z' },
    'mail +0',
  ],
  [
    'the end of its hours',
    { file: MAIL, ran: { mail: '2026-11-21T19:20Z' }, now: '2026-11-21T20:00Z' },
    'none (out-of-hours) until 2026-11-22T08:00',
  ],
  [
    'the first beat of the day',
    { file: MAIL, ran: { mail: '2026-11-20T19:40Z' }, now: '2026-11-21T08:05Z' },
    'mail +5',
  ],
  [
    'a machine that slept for three days',
    { file: MAIL, ran: { mail: '2026-11-18T11:30Z' }, now: '2026-11-21T12:00Z' },
    'mail +4320',
  ],
  [
    'the same, once it ran',
    { file: MAIL, ran: { mail: '2026-11-21T12:00Z' }, now: '2026-11-21T12:05Z' },
    'none (not-yet) until 2026-11-21T12:30',
  ],
  [
    'the more overdue of two',
    {
      file: MAIL + task('b', '1 h'),
      ran: { mail: '2026-11-21T11:20Z', b: '2026-11-21T10:30Z' },
      now: '2026-11-21T12:00Z',
    },
    'b +30',
  ],
  [
    'the first of two that are alike',
    {
      file: MAIL + task('b', '30 min'),
      ran: { mail: '2026-11-21T11:20Z', b: '2026-11-21T11:20Z' },
      now: '2026-11-21T12:00Z',
    },
    'mail +10',
  ],
  [
    'one that never ran before all others',
    { file: MAIL + task('b', '1 h'), ran: { mail: '2026-11-01T11:20Z' }, now: '2026-11-21T12:00Z' },
    'b +780',
  ],
];

const days: readonly Row[] = [
  [
    'a daily task before its time',
    { file: THREE, ran: { three: '2026-11-20T02:00Z' }, now: '2026-11-21T01:59Z' },
    'none (not-yet) until 2026-11-21T02:00',
  ],
  [
    'at its time',
    { file: THREE, ran: { three: '2026-11-20T02:10Z' }, now: '2026-11-21T02:00Z' },
    'three +0',
  ],
  [
    'once it ran',
    { file: THREE, ran: { three: '2026-11-21T02:00Z' }, now: '2026-11-21T02:30Z' },
    'none (done) until 2026-11-22T02:00',
  ],
  [
    'late, after the machine slept',
    { file: THREE, ran: { three: '2026-11-20T02:00Z' }, now: '2026-11-21T09:00Z' },
    'three +420',
  ],
  [
    'every other day',
    { file: task('b', '2 days', '3-4'), ran: { b: '2026-11-20T02:10Z' }, now: '2026-11-21T02:30Z' },
    'none (done) until 2026-11-22T02:00',
  ],
  [
    'past midnight, before',
    { file: NIGHT, ran: { night: '2026-11-20T21:30Z' }, now: '2026-11-21T20:59Z' },
    'none (not-yet) until 2026-11-21T21:00',
  ],
  [
    'past midnight, the second half',
    { file: NIGHT, ran: { night: '2026-11-20T00:30Z' }, now: '2026-11-21T00:30Z' },
    'night +210',
  ],
  [
    'past midnight, once it ran before',
    { file: NIGHT, ran: { night: '2026-11-20T21:30Z' }, now: '2026-11-21T00:30Z' },
    'none (done) until 2026-11-21T21:00',
  ],
  [
    'past midnight, once its hours are over',
    { file: NIGHT, ran: { night: '2026-11-19T21:30Z' }, now: '2026-11-21T01:30Z' },
    'none (out-of-hours) until 2026-11-21T21:00',
  ],
  [
    'asked for out of its hours',
    { file: task('b', '1 day', '9-10'), ran: { b: '2026-11-21T12:00Z' }, now: '2026-11-22T08:30Z' },
    'b +30',
  ],
];

const oddClocks: readonly Row[] = [
  [
    'hours that the clock skips',
    { file: GAP, ran: { gap: '2026-03-28T01:10Z' }, now: '2026-03-29T01:00Z' },
    'gap +0',
  ],
  [
    'the end of those',
    { file: GAP, ran: { gap: '2026-03-28T01:10Z' }, now: '2026-03-29T02:00Z' },
    'none (out-of-hours) until 2026-03-30T00:00',
  ],
  [
    '2:30 on the day that skips it',
    {
      file: '## a\n- every: daily at 2:30\n- do: x\n',
      ran: { a: '2026-03-28T01:30Z' },
      now: '2026-03-29T01:00Z',
    },
    'a +0',
  ],
  [
    'the first of the doubled hours',
    { file: GAP, ran: { gap: '2026-10-24T00:10Z' }, now: '2026-10-25T00:10Z' },
    'gap +10',
  ],
  [
    'the second of them',
    { file: GAP, ran: { gap: '2026-10-25T00:10Z' }, now: '2026-10-25T01:10Z' },
    'none (done) until 2026-10-26T01:00',
  ],
  [
    'midnight in Havana, where it is skipped',
    {
      file: '## a\n- every: daily at 0:00\n- do: x\n',
      ran: { a: '2026-03-07T05:00Z' },
      now: '2026-03-08T05:00Z',
      timeZone: 'America/Havana',
    },
    'a +0',
  ],
  [
    'every half hour in a doubled hour',
    { file: task('b', '30 min'), ran: { b: '2026-10-25T00:30Z' }, now: '2026-10-25T01:00Z' },
    'b +0',
  ],
  [
    'every half hour over a skipped hour',
    { file: task('b', '30 min'), ran: { b: '2026-03-29T00:45Z' }, now: '2026-03-29T01:00Z' },
    'none (not-yet) until 2026-03-29T01:15',
  ],
  [
    'a last run in the year 2030',
    { file: MAIL, ran: { mail: '2030-01-01T00:00Z' }, now: '2026-11-21T12:00Z' },
    'mail +240',
  ],
  [
    'a last run three minutes ahead',
    { file: MAIL, ran: { mail: '2026-11-21T12:03Z' }, now: '2026-11-21T12:00Z' },
    'none (not-yet) until 2026-11-21T12:33',
  ],
  [
    'a daily one, noted in the year 2030',
    { file: THREE, ran: { three: '2030-01-01T00:00Z' }, now: '2026-11-21T12:00Z' },
    'three +600',
  ],
  [
    'a daily one, with the clock put back an hour',
    { file: THREE, ran: { three: '2026-11-21T03:00Z' }, now: '2026-11-21T02:05Z' },
    'none (done) until 2026-11-22T02:00',
  ],
];

describe('[H02] the task of a heartbeat run', () => {
  it.each(ordinary)('%s', (_what, given, said) => expect(beat(given)).toBe(said));
  it.each(days)('is chosen by days: %s', (_what, given, said) => expect(beat(given)).toBe(said));
  it.each(oddClocks)('is chosen with a wrong clock: %s', (_what, given, said) =>
    expect(beat(given)).toBe(said),
  );

  it('is returned with the reasons why other tasks wait', () => {
    const { tasks } = parseHeartbeatTasks(MAIL + THREE);
    const looking = { now: at('2026-11-21T12:00Z'), clock: createZoneClock('UTC') };
    const { due } = listDueTasks(tasks, new Map(), looking);
    expect(due.map(({ task: { name } }) => name)).toEqual(['mail', 'three']);
    expect(listTaskOutlooks(tasks, new Map(), looking)).toMatchObject([
      { task: { name: 'mail' } },
      { task: { name: 'three' }, next: { kind: 'due', neverRan: true } },
    ]);
  });
});

it("[F14] a named agent's run is in one of the agent's own lanes", () => {
  const last = {
    ...{ channel: 'test', account: 'default', messageId: 'm', text: '', mentions: [] },
    ...{
      chat: { id: 'c', type: 'direct' as const },
      sender: { id: '1', name: 'Ann', isBot: false },
    },
    ...{ addressed: true, sentAt: 0, variables: {} },
  };
  const target = { dialect: 'plain', maxLength: 9, unit: 'utf16' } as const;
  const route = { channel: 'test', account: 'default', chatId: 'c', target };
  const chat = {
    kind: 'chat',
    conversationId: '@desk/test:default:c',
    route,
    last,
    isOwners: true,
  } as const;
  const { message } = createExampleRunRequest(chat, { agent: 'desk', agentName: 'desk', now: 0 });
  expect(message.conversationId).toBe('@desk/beat:desk');
  expect(createExampleRunRequest(chat, { agent: 'main', now: 0 }).message.conversationId).toBe(
    'beat:main',
  );
});
