import { expect, it } from 'vitest';
import { Heartbeat, Skills } from './agent-schema.ts';
import { Limits } from './limits-schema.ts';

it('[H01] standing tasks are checked at most every five minutes', () => {
  const isTaken = (everyMinutes: number) => Heartbeat.safeParse({ everyMinutes }).success;
  expect([isTaken(4), isTaken(5)]).toEqual([false, true]);
});

it.each([
  [
    '[H01] [H03] [H04] [H07] standing tasks',
    Heartbeat,
    {
      ...{ everyMinutes: 30, quietMaxCharacters: 300, quietHours: '22:00-07:00', repeatHours: 24 },
      ...{ memoryUpkeepDays: 7, memoryTokens: 4_000 },
    },
  ],
  ['[S05] skills', Skills, { max: 150, maxCharacters: 30_000, maxFileBytes: 256_000 }],
  [
    '[F06] [G07] turns',
    Limits,
    { groupContextMessages: 50, subAgents: expect.objectContaining({ depth: 2, steps: 20 }) },
  ],
])('%s have the documented limits unless the settings change them', (_what, section, bounds) => {
  expect(section.parse({})).toMatchObject(bounds);
});
