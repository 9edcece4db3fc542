import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

/** A worker that takes jobs but never renews a lock, as if its process had crashed. */
const DEAD = { lockDuration: 150, skipLockRenewal: true, skipStalledCheck: true } as const;
/** A worker that checks often for stalled jobs. */
const RESCUER = { stalledInterval: 100, lockDuration: 5000 } as const;

describeOnBothBackends('locks and stalled jobs', inject('redisUrl'), (it) => {
  it("runs a crashed worker's job again, before waiting jobs", async ({ lab }) => {
    await lab.queue.addBulk(['a', 'b'].map((name) => ({ name, data: {} })));
    const never = createGate();
    lab.worker(() => never.opened, DEAD);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    const started: string[] = [];
    const stalled: string[] = [];
    const rescuer = lab.worker(
      async (job) => {
        started.push(job.name);
        await waitUntil(() => stalled.length > 0);
      },
      { ...RESCUER, autorun: false },
    );
    rescuer.on('stalled', (jobId) => stalled.push(jobId));
    await lab.queue.add('c', {});
    void rescuer.run();
    await lab.ended(rescuer, 3);
    expect(started).toEqual(['b', 'a', 'c']);
    expect(stalled).toEqual(['1']);
    const job = await lab.queue.getJob('1');
    expect([job?.stalledCounter, job?.attemptsStarted, job?.attemptsMade]).toEqual([1, 2, 1]);
    never.open();
  });

  it('fails a job that stalls too often, without running it again', async ({ lab }) => {
    await lab.queue.add('crasher', {});
    const never = createGate();
    lab.worker(() => never.opened, DEAD);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    const rescuer = lab.worker(async () => {}, { ...RESCUER, maxStalledCount: 0 });
    await lab.ended(rescuer, 1);
    const job = await lab.queue.getJob('1');
    expect(job?.failedReason).toBe('job stalled more than allowable limit');
    expect(await job?.getState()).toBe('failed');
    never.open();
  });

  it('does not touch a job while its worker is busy for longer than its lock', async ({ lab }) => {
    await lab.queue.add('long', {});
    let runs = 0;
    const processor = async () => {
      runs += 1;
      await pause(2600);
    };
    const options = { lockDuration: 2000, stalledInterval: 50 };
    lab.worker(processor, options);
    lab.worker(processor, options);
    await waitUntil(async () => (await lab.queue.getCompletedCount()) > 0);
    expect(runs).toBe(1);
  });

  it('rejects the result of a worker that lost its lock', async ({ lab }) => {
    await lab.queue.add('slow', {});
    const taker = lab.worker(null, { ...DEAD, lockDuration: 60_000 });
    const job = await taker.getNextJob('token-1');
    await expect(job?.moveToCompleted('late', 'token-2', false)).rejects.toMatchObject({
      code: -6,
    });
    expect(await job?.extendLock('token-1', 50)).toBe(1);
    await pause(100);
    await expect(job?.moveToCompleted('late', 'token-1', false)).rejects.toMatchObject({
      code: -2,
    });
    expect(await job?.getState()).toBe('active');
    expect(await job?.extendLock('token-1', 1000)).toBe(0);
  });

  it('acquires, extends and checks the locks of jobs processed manually', async ({ lab }) => {
    await lab.queue.add('manual', {});
    const taker = lab.worker(null, { lockDuration: 30_000 });
    const job = await taker.getNextJob('mine');
    expect(job?.name).toBe('manual');
    expect(await job?.extendLock('mine', 30_000)).toBe(1);
    expect(await job?.extendLock('yours', 5000)).toBe(0);
    expect(await taker.extendJobLocks(['1'], ['yours'], 5000)).toEqual(['1']);
    await job?.moveToCompleted('done', 'mine', false);
    await expect(job?.moveToFailed(new Error('no'), 'mine', false)).rejects.toMatchObject({
      code: -2,
    });
    expect((await lab.queue.getJob('1'))?.returnvalue).toBe('done');
  });

  it('keeps deduplication across a stall: the follow-up waits for the second run', async ({
    lab,
  }) => {
    const deduplication = { id: 'chat', keepLastIfActive: true };
    const never = createGate();
    await lab.queue.add('kick', { n: 1 }, { deduplication });
    lab.worker(() => never.opened, DEAD);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    await lab.queue.add('kick', { n: 2 }, { deduplication });
    const seen: unknown[] = [];
    const rescuer = lab.worker(async (job) => {
      seen.push(job.data);
    }, RESCUER);
    await lab.ended(rescuer, 2);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
    never.open();
  });
});
