import type { HeartbeatRun } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { zoneClock } from '../zone-clock.ts';
import { lastRunText } from './report.ts';
import { momentText } from './report-shape.ts';

const moment = (iso: string) => Date.parse(iso);
/** Half past three in the afternoon of a Saturday in Berlin. */
const AT = { now: moment('2026-11-21T14:30:00Z'), clock: zoneClock('Europe/Berlin') };
const RUN: HeartbeatRun = {
  id: 'beat_main_1',
  agent: 'main',
  task: 'mail',
  target: 'telegram:default:1',
  state: 'quiet',
  reason: null,
  alert: null,
  heldUntil: null,
  startedAt: moment('2026-11-21T13:00:00Z'),
  finishedAt: null,
  inputTokens: 1,
  outputTokens: 1,
};
const CHECK = { kind: 'command', command: 'date' } as const;
const said = (change: Partial<HeartbeatRun>, tell?: string) =>
  lastRunText(tell === undefined ? {} : { tell }, RUN.startedAt, { ...RUN, ...change }, AT).text;

describe('what came of the last run', () => {
  it.each<[Partial<HeartbeatRun>, string]>([
    [{ state: 'running' }, '14:00, running now'],
    [{ state: 'quiet' }, '14:00, nothing to report'],
    [{ state: 'alerted' }, '14:00, sent to you'],
    [
      { state: 'held', heldUntil: moment('2026-11-22T06:00:00Z') },
      '14:00, held until tomorrow 07:00',
    ],
    [{ state: 'repeated' }, '14:00, the same as before, so not sent again'],
    [{ state: 'unclear', reason: 'a mere nod' }, '14:00, an unclear answer, not sent (a mere nod)'],
    [
      { state: 'failed', reason: 'overloaded\n  too many' },
      '14:00, failed (overloaded too many); not sent',
    ],
  ])('[H02] [H03] [H04] is reported in one line: %j', (change, words) => {
    expect(said(change)).toBe(words);
  });

  it('[H04] names the group that was notified', () => {
    expect(said({ state: 'alerted' }, 'family')).toBe('14:00, sent to family');
  });

  it('[H02] is that a check saw nothing new, where the run is older than the look', () => {
    const later = moment('2026-11-21T14:00:00Z');
    expect(lastRunText({ check: CHECK }, later, RUN, AT)).toEqual({
      state: 'nothing-new',
      at: later,
      text: '15:00, nothing new to look at',
    });
    const noted = lastRunText({}, moment('2026-11-12T14:00:00Z'), undefined, AT);
    expect(noted).toMatchObject({ state: 'noted', text: 'Thu 12 Nov 15:00' });
  });

  it('[H02] is nothing before the first', () => {
    expect(lastRunText({}, null, undefined, AT)).toEqual({
      state: 'never',
      at: null,
      text: 'never',
    });
  });
});

it.each([
  ['2026-11-21T22:59:00Z', '23:59'],
  ['2026-11-21T23:00:00Z', 'tomorrow 00:00'],
  ['2026-11-20T20:05:00Z', 'yesterday 21:05'],
  ['2026-11-24T02:00:00Z', 'Tue 24 Nov 03:00'],
  ['2027-01-01T02:00:00Z', 'Fri 1 Jan 2027 03:00'],
  ['2026-03-28T02:00:00Z', 'Sat 28 Mar 03:00'],
])('[H02] %s is %s for somebody in Berlin that Saturday', (iso, words) => {
  const now = Date.parse('2026-11-21T14:30:00Z');
  expect(momentText(Date.parse(iso), zoneClock('Europe/Berlin'), now)).toBe(words);
});
