import { setTimeout as sleep } from 'node:timers/promises';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, expect, it } from 'vitest';
import { type KeyedWork, startKeyedWork, type WakeUpHandler } from './keyed-work.ts';

const { log, lines } = createRecordingLogger();
const open: KeyedWork[] = [];
afterEach(() => Promise.all(open.splice(0).map((work) => work.close(0))));

function start(handler: WakeUpHandler, concurrency = 10): KeyedWork {
  const work = startKeyedWork({ name: 'test', handler, concurrency, log, random: () => 0 });
  open.push(work);
  return work;
}

it('runs keys in parallel up to the concurrency limit, and the rest in order', async () => {
  const started: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = start(async (key) => {
    started.push(key);
    await gate.promise;
    return null;
  }, 2);
  for (const key of ['a', 'b', 'c', 'd', 'c']) work.wake(key);
  await sleep(10);
  expect(started).toEqual(['a', 'b']);
  gate.resolve();
  await expect.poll(() => started).toEqual(['a', 'b', 'c', 'd']);
});

it('[D02] never runs a key twice at the same time, and runs it once more for all wake-ups that arrived during a run', async () => {
  let [running, most, runs] = [0, 0, 0];
  const gate = Promise.withResolvers<void>();
  const work = start(async () => {
    running += 1;
    runs += 1;
    most = Math.max(most, running);
    // A run may wake its own key, for example by publishing an event.
    if (runs === 1) work.wake('one');
    await gate.promise;
    running -= 1;
    return null;
  });
  work.wake('one');
  await expect.poll(() => runs).toBe(1);
  for (let i = 0; i < 5; i += 1) work.wake('one');
  gate.resolve();
  await expect.poll(() => runs).toBe(2);
  await sleep(20);
  expect({ runs, most }).toEqual({ runs: 2, most: 1 });
});

it('runs a key again after the requested delay, or earlier if it is woken', async () => {
  let runs = 0;
  const work = start(async () => {
    runs += 1;
    return runs === 1 ? 20 : 3_600_000_000;
  });
  work.wake('later');
  await expect.poll(() => runs).toBe(2);
  await sleep(20);
  expect(runs).toBe(2);
  work.wake('later');
  await expect.poll(() => runs).toBe(3);
});

it('runs a key again after a failure, and logs the failure', async () => {
  let runs = 0;
  const work = start(async () => {
    runs += 1;
    if (runs === 1) throw new Error('the database is away');
    return null;
  });
  work.wake('again');
  await expect.poll(() => runs, { timeout: 5_000 }).toBe(2);
  expect(lines.filter((line) => line.includes('the database is away'))).toHaveLength(1);
});

it('[D11] lets runs finish within the grace period, then aborts them and does not start any more', async () => {
  const ended: string[] = [];
  const work = start(async (key, signal) => {
    await sleep(key === 'quick' ? 20 : 60_000, undefined, { signal }).catch(() => undefined);
    ended.push(`${key} ${signal.aborted ? 'aborted' : 'finished'}`);
    return 1;
  }, 2);
  for (const key of ['quick', 'slow', 'never']) work.wake(key);
  await sleep(1);
  await work.close(200);
  work.wake('never');
  await sleep(20);
  expect(ended).toEqual(['quick finished', 'slow aborted']);
});
