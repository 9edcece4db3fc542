import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

describeOnBothBackends('pausing and limits', inject('redisUrl'), (it) => {
  const jobs = (...names: string[]) => names.map((name) => ({ name, data: {} }));

  it('does not start jobs while paused, and continues immediately after resume', async ({
    lab,
  }) => {
    await lab.queue.pause();
    await lab.queue.addBulk(jobs('a', 'b'));
    const running = lab.run(2, { drainDelay: 60 });
    await pause(80);
    expect(await lab.queue.isPaused()).toBe(true);
    expect(await lab.queue.getJobCounts('waiting', 'active')).toEqual({ waiting: 2, active: 0 });
    await lab.queue.resume();
    expect(await running).toEqual(['a', 'b']);
    expect(await lab.queue.isPaused()).toBe(false);
  });

  it('promotes due jobs while paused, and runs them after resume', async ({ lab }) => {
    await lab.queue.pause();
    await lab.queue.add('due', {}, { delay: 40 });
    const running = lab.run(1, { drainDelay: 60 });
    await pause(100);
    expect(await lab.queue.getCompletedCount()).toBe(0);
    await lab.queue.resume();
    expect(await running).toEqual(['due']);
  });

  it('lets a worker pause and resume on its own', async ({ lab }) => {
    const worker = lab.worker(async () => {}, { drainDelay: 60 });
    await worker.waitUntilReady();
    await worker.pause();
    await lab.queue.add('a', {});
    await pause(50);
    expect(await lab.queue.getWaitingCount()).toBe(1);
    const done = lab.ended(worker, 1);
    void worker.resume();
    await done;
  });

  it('starts only as many jobs per window as the limiter allows', async ({ lab }) => {
    await lab.queue.addBulk(jobs('a', 'b', 'c', 'd', 'e'));
    const worker = lab.worker(async () => {}, {
      limiter: { max: 2, duration: 300 },
      concurrency: 5,
    });
    await lab.ended(worker, 5);
    const jobsRun = await lab.queue.getCompleted();
    const started = jobsRun.map((job) => job.processedOn ?? 0).toSorted((a, b) => a - b);
    const [first = 0, , third = 0, , fifth = 0] = started;
    // Redis uses its own clock for the window, which may differ by a millisecond or two.
    expect(third - first).toBeGreaterThanOrEqual(290);
    expect(fifth - third).toBeGreaterThanOrEqual(290);
  });

  it('reports how long a rate limit lasts, and ends it on request', async ({ lab }) => {
    expect(await lab.queue.getRateLimitTtl()).toBe(-2);
    await lab.queue.rateLimit(60_000);
    expect(await lab.queue.getRateLimitTtl()).toBeGreaterThan(50_000);
    expect(await lab.queue.getRateLimitTtl(10)).toBeGreaterThan(50_000);
    expect(await lab.queue.removeRateLimitKey()).toBe(1);
    expect(await lab.queue.removeRateLimitKey()).toBe(0);
    expect(await lab.queue.getRateLimitTtl(10)).toBe(0);
  });

  it('stops rate-limited workers while the queue is rate limited', async ({ lab }) => {
    await lab.queue.rateLimit(300);
    const startedAt = Date.now();
    await lab.queue.add('a', {});
    await lab.run(1, { limiter: { max: 100, duration: 1000 } });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(250);
  });

  it('enforces the rate limit set for the whole queue', async ({ lab }) => {
    await lab.queue.setGlobalRateLimit(1, 200);
    expect(await lab.queue.getGlobalRateLimit()).toEqual({ max: 1, duration: 200 });
    await lab.queue.addBulk(jobs('a', 'b', 'c'));
    const startedAt = Date.now();
    await lab.run(3);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(390);
    expect(await lab.queue.removeGlobalRateLimit()).toBe(2);
    expect(await lab.queue.getGlobalRateLimit()).toBeNull();
  });

  it('runs at most as many jobs at a time as the global concurrency allows, across all workers', async ({
    lab,
  }) => {
    await lab.queue.setGlobalConcurrency(2);
    await lab.queue.addBulk(jobs('a', 'b', 'c', 'd', 'e', 'f'));
    let active = 0;
    let most = 0;
    const step = createGate();
    const processor = async () => {
      active += 1;
      most = Math.max(most, active);
      await step.opened;
      active -= 1;
    };
    const workers = [1, 2].map(() => lab.worker(processor, { concurrency: 5, drainDelay: 1 }));
    await waitUntil(() => active === 2);
    await pause(50);
    step.open();
    await waitUntil(async () => (await lab.queue.getCompletedCount()) === 6);
    expect(most).toBe(2);
    expect(await lab.queue.getGlobalConcurrency()).toBe(2);
    await Promise.all(workers.map((worker) => worker.close()));
    await lab.queue.removeGlobalConcurrency();
    expect(await lab.queue.getGlobalConcurrency()).toBeNull();
  });

  it('reports when the global concurrency is used up', async ({ lab }) => {
    await lab.queue.setGlobalConcurrency(1);
    await lab.queue.add('a', {});
    const step = createGate();
    const worker = lab.worker(() => step.opened);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    expect(await lab.queue.isMaxed()).toBe(true);
    const done = lab.ended(worker, 1);
    step.open();
    await done;
    expect(await lab.queue.isMaxed()).toBe(false);
  });

  it("runs as many jobs at a time as the worker's concurrency allows", async ({ lab }) => {
    await lab.queue.addBulk(jobs('a', 'b', 'c'));
    const step = createGate();
    const worker = lab.worker(() => step.opened, { concurrency: 3 });
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 3);
    const done = lab.ended(worker, 3);
    step.open();
    await done;
  });

  it('finishes active jobs before a worker closes', async ({ lab }) => {
    await lab.queue.addBulk(jobs('a', 'b'));
    const step = createGate();
    const worker = lab.worker(() => step.opened);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    const closed = worker.close();
    step.open();
    await closed;
    expect(await lab.queue.getJobCounts('completed', 'waiting', 'active')).toEqual({
      completed: 1,
      waiting: 1,
      active: 0,
    });
  });

  it('stores and returns queue settings', async ({ lab }) => {
    await lab.queue.waitUntilReady();
    await waitUntil(async () => (await lab.queue.getVersion()) !== null);
    await lab.queue.setGlobalConcurrency(7);
    expect(await lab.queue.getMeta()).toMatchObject({
      concurrency: 7,
      maxLenEvents: 10_000,
      paused: false,
    });
    expect(await lab.queue.getVersion()).toMatch(/^bullmq:6/);
  });
});
