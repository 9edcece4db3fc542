import { expect, it } from 'vitest';
import { TELEGRAM_IDS } from './ids.ts';

it.each([
  ['-1001234567890', '-1001234567890'],
  ['business:42', 'business:42'],
  ['guest:42', 'guest:42'],
  ['42', null],
  ['business:@ann', null],
])('[F05] an access list for groups reads %s as %s', (written, id) => {
  expect(TELEGRAM_IDS.group?.normalize(written)).toBe(id);
});

it.each([
  ['7', '7'],
  ['direct:7', 'direct:7'],
  ['business:conn', null],
])('[F17] a job can write to the topic %s, given as %s', (written, id) => {
  expect(TELEGRAM_IDS.thread?.normalize(written)).toBe(id);
});
