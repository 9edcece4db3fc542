import { expect, it } from 'vitest';
import { Heartbeat } from './agent-schema.ts';

it('[H04] alerts wait from 22:00 to 07:00 unless the settings say otherwise', () => {
  expect(Heartbeat.parse({}).quietHours).toBe('22:00-07:00');
});

it('[H01] standing tasks are looked at every five minutes at most', () => {
  const isTaken = (everyMinutes: number) => Heartbeat.safeParse({ everyMinutes }).success;
  expect([isTaken(4), isTaken(5)]).toEqual([false, true]);
});
