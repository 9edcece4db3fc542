import type { Processor } from 'bullmq';
import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

describeOnBothBackends('deduplication', inject('redisUrl'), (it) => {
  it('simple: drops jobs until the first one ends', async ({ lab }) => {
    const deduplication = { id: 'chat' };
    const first = await lab.queue.add('first', {}, { deduplication });
    const second = await lab.queue.add('second', {}, { deduplication });
    expect([first.id, second.id]).toEqual(['1', '1']);
    expect(await lab.queue.getDeduplicationJobId('chat')).toBe('1');
    expect(await lab.run(1)).toEqual(['first']);
    expect(await lab.queue.getDeduplicationJobId('chat')).toBeNull();
    const third = await lab.queue.add('third', {}, { deduplication });
    expect(third.id).toBe('3');
  });

  it('simple: keeps dropping jobs while the first one is retried, until it finally fails', async ({
    lab,
  }) => {
    const deduplication = { id: 'chat' };
    await lab.queue.add('first', {}, { deduplication, attempts: 2, backoff: 60_000 });
    const worker = lab.worker(() => Promise.reject(new Error('no')));
    await lab.ended(worker, 1);
    expect((await lab.queue.add('between', {}, { deduplication })).id).toBe('1');
    await (await lab.queue.getJob('1'))?.promote();
    await lab.ended(worker, 2);
    await worker.close();
    expect((await lab.queue.add('after', {}, { deduplication })).id).toBe('3');
  });

  it('ttl: drops jobs for the given time, even after the first one has ended', async ({ lab }) => {
    const deduplication = { id: 'chat', ttl: 60_000 };
    await lab.queue.add('first', {}, { deduplication });
    expect(await lab.run(1)).toEqual(['first']);
    expect((await lab.queue.add('second', {}, { deduplication })).id).toBe('1');
    const short = { deduplication: { id: 'other chat', ttl: 100 } };
    await lab.queue.add('third', {}, short);
    await waitUntil(async () => (await lab.queue.add('fourth', {}, short)).id !== '3');
  });

  it('ttl: reports true when a claimed deduplication id is released, and false when the claim has expired', async ({
    lab,
  }) => {
    await lab.queue.add('first', {}, { deduplication: { id: 'chat', ttl: 60_000 } });
    expect(await lab.queue.removeDeduplicationKey('chat')).toBe(1);
    await lab.queue.add('second', {}, { deduplication: { id: 'chat', ttl: 50 } });
    await pause(100);
    expect(await lab.queue.removeDeduplicationKey('chat')).toBe(0);
  });

  it('extend: renews the ttl with each dropped job', async ({ lab }) => {
    const add = async (ttl: number, extend: boolean) =>
      (await lab.queue.add('job', {}, { deduplication: { id: 'chat', ttl, extend } })).id;
    await add(2000, true);
    expect(await add(60_000, true)).toBe('1');
    await pause(2100);
    expect(await add(100, true)).toBe('1');
    await waitUntil(async () => (await add(100, false)) !== '1');
  });

  it('replace: runs only the last of several delayed jobs', async ({ lab }) => {
    const opts = {
      delay: 60_000,
      deduplication: { id: 'typing', ttl: 60_000, extend: true, replace: true },
    };
    await lab.queue.add('first', { n: 1 }, opts);
    const second = await lab.queue.add('second', { n: 2 }, opts);
    expect(second.id).toBe('2');
    expect(await lab.queue.getJob('1')).toBeUndefined();
    expect(await lab.queue.getDelayedCount()).toBe(1);
    await second.promote();
    expect(await lab.run(1)).toEqual(['second']);
  });

  it('replace: does not replace a job that is already waiting', async ({ lab }) => {
    const { queue } = lab;
    const deduplication = { id: 'typing', replace: true };
    await queue.add('first', {}, { deduplication });
    expect((await queue.add('second', {}, { deduplication })).id).toBe('1');
    expect(await queue.count()).toBe(1);
  });

  it('reschedule: keeps the delayed job and moves it to the new time', async ({ lab }) => {
    const deduplication = { id: 'later', reschedule: true };
    await lab.queue.add('first', { n: 1 }, { delay: 3_600_000, deduplication });
    const second = await lab.queue.add('second', { n: 2 }, { delay: 50, deduplication });
    expect(second.id).toBe('1');
    expect((await lab.queue.getJob('1'))?.delay).toBe(50);
    expect(await lab.run(1)).toEqual(['first']);
  });

  it('keepLastIfActive: keeps only the last of the jobs added during a run', async ({ lab }) => {
    const deduplication = { id: 'chat', keepLastIfActive: true };
    const started: unknown[] = [];
    const step = createGate();
    const worker = lab.worker(
      async (job) => {
        started.push(job.data);
        if (started.length === 1) await step.opened;
      },
      { concurrency: 5 },
    );
    await lab.queue.add('kick', { n: 1 }, { deduplication });
    await waitUntil(() => started.length === 1);
    for (const n of [2, 3, 4]) {
      expect((await lab.queue.add('kick', { n }, { deduplication })).id).toBe('1');
    }
    expect(await lab.queue.count()).toBe(0);
    const done = lab.ended(worker, 2);
    step.open();
    await done;
    await pause(50);
    expect(started).toEqual([{ n: 1 }, { n: 4 }]);
    expect(await lab.queue.getDeduplicationJobId('chat')).toBeNull();
    expect(await lab.queue.getJobCounts('waiting', 'active', 'completed')).toEqual({
      waiting: 0,
      active: 0,
      completed: 2,
    });
  });

  it("keepLastIfActive: runs the follow-up even when the job fails, with the follow-up's own options", async ({
    lab,
  }) => {
    const deduplication = { id: 'chat', keepLastIfActive: true };
    const step = createGate();
    const worker = lab.worker(async (job) => {
      if (job.name === 'first') await step.opened;
      if (job.name === 'first') throw new Error('broken');
    });
    await lab.queue.add('first', {}, { deduplication, removeOnFail: true });
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    await lab.queue.add('second', {}, { deduplication, delay: 60_000, priority: 4 });
    step.open();
    await lab.ended(worker, 1);
    expect(await lab.queue.getDelayedCount()).toBe(1);
    const followUp = await lab.queue.getJob('2');
    expect(followUp?.opts).toMatchObject({ delay: 60_000, priority: 4, deduplication });
    expect(await lab.queue.getDeduplicationJobId('chat')).toBe('2');
    await followUp?.promote();
    await lab.ended(worker, 2);
    expect(await lab.queue.getCompletedCount()).toBe(1);
  });

  it('keepLastIfActive: drops further jobs while one is waiting', async ({ lab }) => {
    const { queue } = lab;
    const deduplication = { id: 'chat', keepLastIfActive: true };
    await queue.add('kick', { n: 1 }, { deduplication });
    expect((await queue.add('kick', { n: 2 }, { deduplication })).id).toBe('1');
    expect(await queue.count()).toBe(1);
    expect((await queue.getJob('1'))?.data).toEqual({ n: 1 });
  });

  it('keepLastIfActive: starts a run after every add without overlaps, for random timings', async ({
    lab,
  }) => {
    let clock = 0;
    const lastAdd = new Map<string, number>();
    const lastStart = new Map<string, number>();
    const active = new Set<string>();
    let overlaps = 0;
    const processor: Processor = async (job) => {
      if (active.has(job.name)) overlaps += 1;
      active.add(job.name);
      clock += 1;
      lastStart.set(job.name, clock);
      await pause(clock % 4);
      active.delete(job.name);
      if (clock % 7 === 0) throw new Error('every now and then');
    };
    const workers = [1, 2].map(() => lab.worker(processor, { concurrency: 4 }));
    for (let n = 1; n <= 400; n += 1) {
      const id = `chat-${(n * n) % 5}`;
      clock += 1;
      lastAdd.set(id, clock);
      const deduplication = { id, keepLastIfActive: true };
      await lab.queue.add(id, {}, { deduplication, attempts: 2, removeOnComplete: true });
      if (n % 3 === 0) await pause(n % 5);
      // Checks only occasionally, so that no later add can make up for a lost one.
      if (n % 16 > 0) continue;
      await waitUntil(async () => (await lab.queue.getJobCountByTypes('waiting', 'active')) === 0);
      for (const [chat, added] of lastAdd) expect(lastStart.get(chat)).toBeGreaterThan(added);
    }
    expect(lastAdd.size).toBeGreaterThan(2);
    expect(overlaps).toBe(0);
    await Promise.all(workers.map((worker) => worker.close()));
  });

  it('accepts the next job after the job or the key is removed', async ({ lab }) => {
    const { queue } = lab;
    const deduplication = { id: 'chat' };
    const first = await queue.add('first', {}, { deduplication });
    await first.remove();
    const second = await queue.add('second', {}, { deduplication });
    expect(second.id).toBe('2');
    expect(await queue.removeDeduplicationKey('chat')).toBe(1);
    expect(await queue.removeDeduplicationKey('chat')).toBe(0);
    const third = await queue.add('third', {}, { deduplication });
    expect(third.id).toBe('3');
    expect(await second.removeDeduplicationKey()).toBe(false);
    expect(await third.removeDeduplicationKey()).toBe(true);
  });
});
