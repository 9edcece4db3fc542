import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

describeOnBothBackends('removing jobs', inject('redisUrl'), (it) => {
  it('removes a waiting job with its log', async ({ lab }) => {
    const { queue } = lab;
    const job = await queue.add('a', {}, { jobId: 'mine' });
    await job.log('line');
    await job.remove();
    expect(await queue.getJob('mine')).toBeUndefined();
    expect(await job.getState()).toBe('unknown');
    expect(await queue.remove('mine')).toBe(1);
    await queue.add('again', {}, { jobId: 'mine' });
    expect((await queue.getJobLogs('mine')).count).toBe(0);
  });

  it('does not remove a job that a worker has locked', async ({ lab }) => {
    const step = createGate();
    const job = await lab.queue.add('a', {});
    const worker = lab.worker(() => step.opened);
    await waitUntil(async () => (await job.getState()) === 'active');
    await expect(job.remove()).rejects.toThrow('could not be removed because it is locked');
    const done = lab.ended(worker, 1);
    step.open();
    await done;
    await job.remove();
    expect(await lab.queue.getCompletedCount()).toBe(0);
  });

  it('drains waiting jobs, and delayed ones only on request', async ({ lab }) => {
    const { queue } = lab;
    const fill = () =>
      queue.addBulk([
        { name: 'waits', data: {} },
        { name: 'has priority', data: {}, opts: { priority: 3 } },
        { name: 'is delayed', data: {}, opts: { delay: 60_000 } },
      ]);
    await fill();
    await queue.drain();
    const states = ['waiting', 'prioritized', 'delayed'] as const;
    expect(await queue.getJobCounts(...states)).toEqual({ waiting: 0, prioritized: 0, delayed: 1 });
    await fill();
    await queue.drain(true);
    expect(await queue.getJobCounts(...states)).toEqual({ waiting: 0, prioritized: 0, delayed: 0 });
  });

  it('cleans finished jobs older than the grace period, oldest first', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: {} })));
    await lab.ended(
      lab.worker(() => pause(3)),
      3,
    );
    expect(await queue.clean(60_000, 10, 'completed')).toEqual([]);
    await pause(5);
    expect(await queue.clean(0, 2, 'completed')).toEqual(['1', '2']);
    expect(await queue.getCompletedCount()).toBe(1);
    expect(await queue.clean(0, 0, 'failed')).toEqual([]);
  });

  it('cleans waiting jobs by the time at which they were added', async ({ lab }) => {
    const { queue } = lab;
    await queue.add('old', {}, { timestamp: Date.now() - 60_000 });
    await queue.add('new', {});
    await queue.add('old too', {}, { timestamp: Date.now() - 60_000, priority: 1 });
    expect(await queue.clean(30_000, 100, 'wait')).toEqual(['1']);
    expect(await queue.clean(30_000, 100, 'prioritized')).toEqual(['3']);
    expect(await queue.count()).toBe(1);
  });

  it('obliterates a queue; active jobs are deleted only by force', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk(['a', 'b'].map((name) => ({ name, data: {} })));
    const step = createGate();
    const worker = lab.worker(() => step.opened);
    await waitUntil(async () => (await queue.getActiveCount()) === 1);
    await expect(queue.obliterate()).rejects.toThrow('Cannot obliterate queue with active jobs');
    await worker.close(true);
    await queue.obliterate({ force: true });
    step.open();
    expect(await queue.getJobCountByTypes('waiting', 'active', 'completed')).toBe(0);
    expect(await queue.isPaused()).toBe(false);
    expect((await queue.add('first again', {})).id).toBe('1');
  });

  it('promotes all delayed jobs', async ({ lab }) => {
    const { queue } = lab;
    const delayed = { delay: 60_000 };
    await queue.addBulk(['a', 'b'].map((name) => ({ name, data: {}, opts: delayed })));
    await queue.promoteJobs();
    expect(await queue.getJobCounts('waiting', 'delayed')).toEqual({ waiting: 2, delayed: 0 });
    expect(await lab.run(2)).toEqual(['a', 'b']);
  });

  it('keeps the configured number of finished jobs, which are the newest', async ({ lab }) => {
    const { queue } = lab;
    const names = Array.from({ length: 12 }, (_, n) => `job ${n}`);
    await queue.addBulk(names.map((name) => ({ name, data: {} })));
    await lab.run(12);
    await (await queue.getJob('3'))?.retry('completed');
    await (await queue.getJob('5'))?.remove();
    await lab.run(1, { removeOnComplete: { count: 4 } });
    expect(await queue.getJobCounts('completed', 'waiting')).toEqual({ completed: 4, waiting: 0 });
    const kept = (await queue.getCompleted()).map(({ name }) => name).sort();
    expect(kept).toEqual(['job 10', 'job 11', 'job 2', 'job 9']);
  });

  it('lets timers fire while thousands of jobs are added, drained and obliterated', async ({
    lab,
  }) => {
    const { queue } = lab;
    let fired = 0;
    const timer = setInterval(() => {
      fired += 1;
    }, 1);
    const firedDuring = async (work: () => Promise<unknown>) => {
      const before = fired;
      await work();
      return fired - before;
    };
    const add = () =>
      queue.addBulk(Array.from({ length: 5_000 }, () => ({ name: 'one of many', data: {} })));
    expect(await firedDuring(add)).toBeGreaterThan(2);
    expect(await firedDuring(() => queue.drain())).toBeGreaterThan(0);
    expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 0 });
    await add();
    expect(await firedDuring(() => queue.obliterate())).toBeGreaterThan(0);
    expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 0 });
    clearInterval(timer);
  });
});
