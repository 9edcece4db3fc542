import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type Schedule, type Scheduler, startScheduler, startSweep } from './keyed-work.ts';
import { createLocalBus } from './local-bus.ts';

const bus = createLocalBus(silentLogger);
const running: Scheduler[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close(1_000)));
});

function start(
  schedules: Record<string, Schedule>,
  { everyMs = 60_000, log = silentLogger, clock = Date.now } = {},
): void {
  const map = new Map(Object.entries(schedules));
  running.push(startScheduler({ schedules: map, bus, clock, log, everyMs }));
}

it('[H01] runs a schedule at startup and whenever it asks to run', async () => {
  let looks = 0;
  start({
    a: async () => {
      looks += 1;
      return looks < 3 ? Date.now() + 20 : null;
    },
  });
  await expect.poll(() => looks).toBe(3);
});

it('[H01] runs a failed schedule again without delaying the others', async () => {
  const { log, lines } = createRecordingLogger();
  let failures = 0;
  let looks = 0;
  const fails: Schedule = async () => {
    failures += 1;
    throw new Error('no disk');
  };
  const works: Schedule = async () => {
    looks += 1;
    return null;
  };
  start({ fails, works }, { everyMs: 30, log });
  await expect.poll(() => Math.min(failures, looks)).toBeGreaterThan(2);
  expect(lines.join()).toContain('no disk');
});

it('[H01] runs schedules on time after the clock is set back by a day', async () => {
  let back = 0;
  let looks = 0;
  const clock = () => Date.now() - back;
  await start(
    {
      a: async () => {
        looks += 1;
        const nextAt = clock() + 40;
        back = looks === 1 ? 24 * 3_600_000 : back;
        return nextAt;
      },
    },
    { everyMs: 100, clock },
  );
  await expect.poll(() => looks).toBeGreaterThan(2);
});

it('[H01] never overlaps runs of a slow schedule, however often it is announced', async () => {
  let atOnce = 0;
  let most = 0;
  let looks = 0;
  start({
    slow: async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      bus.publish({ type: 'schedule-due', schedule: 'slow' });
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      looks += 1;
      return null;
    },
  });
  await expect.poll(() => looks).toBeGreaterThan(5);
  expect(most).toBe(1);
});

it('[H01] runs a schedule immediately when a new entry is announced', async () => {
  let looks = 0;
  start({
    a: async () => {
      looks += 1;
      return null;
    },
  });
  await expect.poll(() => looks).toBe(1);
  bus.publish({ type: 'schedule-due', schedule: 'a' });
  await expect.poll(() => looks).toBe(2);
});

describe('a sweep', () => {
  it('starts immediately, repeats, and never overlaps itself', async () => {
    const { log } = createRecordingLogger();
    let running = 0;
    let most = 0;
    let rounds = 0;
    const sweep = startSweep('test', 1, log, async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      rounds += 1;
    });
    expect(running).toBe(1);
    await expect.poll(() => rounds).toBeGreaterThan(2);
    await sweep.stop();
    expect(most).toBe(1);
  });

  it('continues after a failed round and logs the failure', async () => {
    const { log, lines } = createRecordingLogger();
    let rounds = 0;
    const sweep = startSweep('lanes', 1, log, async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('database away');
    });
    await expect.poll(() => rounds).toBeGreaterThan(2);
    await sweep.stop();
    expect(lines).toEqual(['sweep failed {"sweep":"lanes","reason":"database away"}']);
  });

  it('[D11] waits for its last round and then stops', async () => {
    const { log } = createRecordingLogger();
    let done = 0;
    const sweep = startSweep('test', 1, log, async () => {
      await sleep(20);
      done += 1;
    });
    await sweep.stop();
    expect(done).toBe(1);
    await sleep(30);
    expect(done).toBe(1);
  });
});
