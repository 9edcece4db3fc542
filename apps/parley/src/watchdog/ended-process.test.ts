import type { CrashableWork } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSuspectWork, parseProcessRecord, updateCrashCounts } from './ended-process.ts';
import { formatRecoveryNote, formatStallNote } from './work-lines.ts';

const INGRESS: CrashableWork = { kind: 'ingress', key: 'web default main m1' };
const CLAIM: CrashableWork = { kind: 'claim', key: 'web:default:main' };
const [ONE, OTHER]: readonly [CrashableWork, CrashableWork] = [
  { kind: 'turn', key: 't1' },
  { kind: 'turn', key: 't2' },
];

const starts = (number: number, { kind, key }: CrashableWork) =>
  `${JSON.stringify(['+', number, kind, key])}\n`;
const ends = (number: number) => `${JSON.stringify(['-', number])}\n`;
const answered = (work: number | null) =>
  formatStallNote(null) +
  formatStallNote(JSON.stringify({ work, stack: 'Error: stands still\n  at spin' }));
const all = starts(1, INGRESS) + starts(2, CLAIM) + starts(3, ONE) + starts(4, OTHER);

describe('the work that is blamed when a process ends', () => {
  it.each<
    readonly [string, string, { hung: readonly CrashableWork[]; died: readonly CrashableWork[] }]
  >([
    ['an orderly end, or none', '', { hung: [], died: [] }],
    ['work that was completed', starts(1, ONE) + ends(1), { hung: [], died: [] }],
    ['a kill', all + ends(3), { hung: [], died: [INGRESS, CLAIM, OTHER] }],
    ['a hang whose main thread named its work', all + answered(4), { hung: [OTHER], died: [] }],
    [
      'a hang of the ingress whose main thread named its work',
      all + answered(1),
      { hung: [INGRESS], died: [] },
    ],
    [
      "a hang without an answer: turns run other people's code",
      all + formatStallNote(null),
      { hung: [ONE, OTHER], died: [] },
    ],
    [
      'a hang without an answer and without a turn',
      starts(1, INGRESS) + starts(2, CLAIM) + formatStallNote(null),
      { hung: [INGRESS, CLAIM], died: [] },
    ],
    ['a hang with no recorded work', all + answered(null), { hung: [], died: [] }],
    [
      'a hang of something that completed work left behind',
      all + ends(4) + answered(4),
      { hung: [], died: [] },
    ],
    ['an unreadable answer', all + formatStallNote('{"work":'), { hung: [ONE, OTHER], died: [] }],
    [
      'a kill after a stall that had recovered',
      all + answered(3) + formatRecoveryNote(),
      { hung: [], died: [INGRESS, CLAIM, ONE, OTHER] },
    ],
    [
      'a truncated line before the stall',
      `${all}["+",5,"tu${answered(3)}`,
      { hung: [ONE], died: [] },
    ],
  ])('[D13] after %s', (_what, text, blame) => {
    expect(findSuspectWork(parseProcessRecord(text))).toEqual(blame);
  });

  it('[D13] is found in any partial record that a killed process leaves', () => {
    const whole = all + ends(1) + answered(3);
    fc.assert(
      fc.property(fc.nat(whole.length), fc.string(), (length, junk) => {
        const { hung, died } = findSuspectWork(
          parseProcessRecord(`${whole.slice(0, length)}${junk}`),
        );
        expect(hung.length + died.length).toBeLessThanOrEqual(4);
      }),
    );
  });
});

describe('how often work has ended a process', () => {
  const now = 40 * 24 * 60 * 60_000;
  const count = (text: string) => [...updateCrashCounts(parseProcessRecord(text), now)];
  const counted = (work: CrashableWork, hangs: number, deaths: number, at: number) =>
    `${JSON.stringify(['ends', `${work.kind} ${work.key}`, hangs, deaths, at])}\n`;

  it('[D13] is counted separately for each kind of work, except for turns, which the database counts', () => {
    const before = counted(CLAIM, 1, 2, now - 1);
    expect(count(before + all)).toEqual([
      ['ingress web default main m1', { hangs: 0, deaths: 1, at: now }],
      ['claim web:default:main', { hangs: 1, deaths: 3, at: now }],
    ]);
    expect(count(before + all + answered(2))).toEqual([
      ['claim web:default:main', { hangs: 2, deaths: 2, at: now }],
    ]);
    expect(count(before + all + answered(3))).toEqual([
      ['claim web:default:main', { hangs: 1, deaths: 2, at: now - 1 }],
    ]);
  });

  it('[D13] is counted from zero again after work completes, and forgotten after a month', () => {
    const cleared = `${JSON.stringify(['cleared', 'claim web:default:main'])}\n`;
    expect(count(counted(CLAIM, 1, 0, now - 1) + cleared)).toEqual([]);
    expect(count(counted(CLAIM, 1, 0, 0))).toEqual([]);
  });
});
