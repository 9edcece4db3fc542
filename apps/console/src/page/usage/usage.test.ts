import type { OutputOf } from '@parley/gateway/operations';
import { describe, expect, it } from 'vitest';
import { formatHighestMoney } from './day-charts.tsx';
import { formatCost, formatLatency, formatMoney } from './figures.ts';
import { listUsageLines } from './usage-table.tsx';

const NOTHING = {
  ...{ turns: 0, failed: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
  ...{ costUsd: 0, unpriced: 0, latency: null },
};
const USED = { ...NOTHING, turns: 1, inputTokens: 5 };
const REPORT: OutputOf<'usage/report'> = {
  ...{
    by: 'day',
    groupings: ['day'],
    until: '2026-11-21',
    timeZone: 'UTC',
    isWhole: true,
    caps: [],
  },
  today: { day: '2026-11-21', tokens: 0, costUsd: 0, unpriced: 0 },
  total: NOTHING,
  days: [
    { day: '2026-11-19', ...USED },
    { day: '2026-11-20', ...NOTHING },
    { day: '2026-11-21', ...NOTHING, inputTokens: 3 },
  ],
  rows: [],
  other: null,
  outside: { ...NOTHING, inputTokens: 3 },
};

describe('usage on the page', () => {
  it('[U07] lists the days that have any usage, newest first', () => {
    expect(listUsageLines(REPORT).map(({ name }) => name)).toEqual(['2026-11-21', '2026-11-19']);
  });

  it('[U07] lists groups, then the total of the remaining groups, then usage outside turns', () => {
    const rows = [
      { name: 'web:ada', title: 'Ada', ...USED },
      { name: '', title: null, ...USED },
    ];
    const report = { ...REPORT, by: 'person', rows, other: { groups: 3, ...USED } } as const;
    expect(listUsageLines(report).map(({ name, title }) => [name, title])).toEqual([
      ['web:ada', 'Ada'],
      ['(none)', null],
      ['3 others', undefined],
      ['Summaries, SOUL.md', undefined],
    ]);
  });

  it('[U07] shows how much of the cost is known', () => {
    expect([0, 0.0123, 9.5, 1_234.567].map(formatMoney)).toEqual([
      '$0.00',
      '$0.0123',
      '$9.50',
      '$1,234.57',
    ]);
    expect(formatCost({ ...NOTHING, costUsd: 2 })).toBe('$2.00');
    expect(formatCost({ ...NOTHING, costUsd: 2, unpriced: 1 })).toBe('over $2.00');
    expect(formatCost({ ...NOTHING, unpriced: 1 })).toBe('unknown');
    expect(formatLatency(undefined)).toBe('–');
  });

  it.each([
    [[], '$0.00'],
    [
      [
        { costUsd: 1, unpriced: 0 },
        { costUsd: 2, unpriced: 0 },
      ],
      '$2.00',
    ],
    [
      [
        { costUsd: 0, unpriced: 0 },
        { costUsd: 0, unpriced: 3 },
      ],
      'unknown',
    ],
    [
      [
        { costUsd: 0, unpriced: 3 },
        { costUsd: 2, unpriced: 0 },
      ],
      'over $2.00',
    ],
  ])('[U03] [U07] shows the day with the highest known cost: %j', (days, text) => {
    expect(formatHighestMoney(days)).toBe(text);
  });
});
