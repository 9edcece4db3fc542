import { expect, it } from 'vitest';
import { zoneClock } from '../clock/zone-clock.ts';
import { momentWords } from './moment-words.ts';

it.each([
  ['2026-11-21T22:59:00Z', '23:59'],
  ['2026-11-21T23:00:00Z', 'tomorrow 00:00'],
  ['2026-11-20T20:05:00Z', 'yesterday 21:05'],
  ['2026-11-24T02:00:00Z', 'Tue 24 Nov 03:00'],
  ['2027-01-01T02:00:00Z', 'Fri 1 Jan 2027 03:00'],
  ['2026-03-28T02:00:00Z', 'Sat 28 Mar 03:00'],
])('[H02] %s is %s for somebody in Berlin that Saturday', (iso, words) => {
  const now = Date.parse('2026-11-21T14:30:00Z');
  expect(momentWords(Date.parse(iso), zoneClock('Europe/Berlin'), now)).toBe(words);
});
