import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OperationServices, performOperation } from './operations.ts';

const TODAY = '2026-11-21';
const FACTS = {
  timeZone: 'Europe/Berlin',
  dayAt: () => TODAY,
  caps: [
    { name: 'totalDaily', tokens: 1_000, usd: 5 },
    { name: 'perPersonDaily', tokens: 100 },
    { name: 'perStrangerDaily', usd: 1 },
  ],
} as const;

describe('the usage report', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openMemoryStore({ clock: () => 0 });
  });
  afterEach(() => store.close());
  const report = (query: object) => {
    const services = {
      ...{ store, clock: () => 0, defaultAgent: 'main', scrub: (text: string) => text },
      usage: async () => FACTS,
    } as Partial<OperationServices> as OperationServices;
    const caller = { name: 'Ann', role: 'owner' } as const;
    return performOperation(services, 'usage/report', query, { caller });
  };

  it('[U07] covers each of the last 30 days by default', async () => {
    const { days, ...asked } = await report({});
    expect(asked).toMatchObject({ by: 'day', until: TODAY, timeZone: 'Europe/Berlin', rows: [] });
    expect(days.map(({ day }) => day)).toHaveLength(30);
    expect(days.at(-1)?.day).toBe(TODAY);
  });

  it('[U07] covers the requested days and grouping', async () => {
    const { days, by } = await report({ by: 'person', days: '3', until: '2026-02-28' });
    expect({ by, days: days.map(({ day }) => day) }).toEqual({
      by: 'person',
      days: ['2026-02-26', '2026-02-27', '2026-02-28'],
    });
    expect((await report({ days: 400 })).days).toHaveLength(400);
  });

  it.each([
    { by: 'text' },
    { days: '0' },
    { days: 401 },
    { days: 1.5 },
    { days: 'x' },
    { until: '2026-02-30' },
    { until: 'yesterday' },
    { by: 'day', zone: 'UTC' },
  ])('[U07] is refused for %j', async (query) => {
    await expect(report(query)).rejects.toMatchObject({ code: 'wrong-input' });
  });

  it("[U07] [G17] lists each cap in the settings with today's usage", async () => {
    const add = (personId: string, inputTokens: number) =>
      store.spend.add(
        { day: TODAY, personId, groupId: null },
        { inputTokens, outputTokens: 1, costUsd: 0.5 },
      );
    await add('web:ada', 19);
    await add('web:bo', 4);
    await add('', 9);
    const { caps, today } = await report({ days: 1 });
    expect(today).toEqual({ day: TODAY, tokens: 35, costUsd: 1.5, unpriced: 0 });
    expect(caps).toEqual([
      { ...FACTS.caps[0], used: { tokens: 35, costUsd: 1.5 } },
      { ...FACTS.caps[1], used: { tokens: 20, costUsd: 0.5 } },
      { ...FACTS.caps[2], used: null },
    ]);
  });
});
