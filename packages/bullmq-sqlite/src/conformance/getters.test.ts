import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

describeOnBothBackends('queries', inject('redisUrl'), (it) => {
  const names = (jobs: readonly { name: string }[]) => jobs.map((job) => job.name);

  it('counts the jobs in every state', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk([
      { name: 'good', data: {} },
      { name: 'bad', data: {} },
      { name: 'long', data: {} },
    ]);
    const step = createGate();
    lab.worker(async (job) => {
      if (job.name === 'bad') throw new Error('bad');
      if (job.name === 'long') await step.opened;
    });
    await waitUntil(async () => (await queue.getJob('3'))?.processedOn !== undefined);
    await queue.add('waits', {});
    await queue.add('urgent', {}, { priority: 1 });
    await queue.add('later', {}, { delay: 60_000 });
    expect(await queue.getJobCounts()).toEqual({
      active: 1,
      completed: 1,
      delayed: 1,
      failed: 1,
      prioritized: 1,
      waiting: 1,
      'waiting-children': 0,
    });
    expect(await queue.count()).toBe(3);
    expect(await queue.getJobCountByTypes('completed', 'failed')).toBe(2);
    expect(await queue.getDelayedCount(Date.now() + 30_000)).toBe(0);
    expect(await queue.getDelayedCount(Date.now() + 90_000)).toBe(1);
    step.open();
  });

  it('lists waiting jobs in both directions and by page', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk(['a', 'b', 'c', 'd'].map((name) => ({ name, data: {} })));
    expect(names(await queue.getWaiting())).toEqual(['a', 'b', 'c', 'd']);
    expect(names(await queue.getWaiting(1, 2))).toEqual(['b', 'c']);
    expect(names(await queue.getJobs(['waiting'], 0, -1, false))).toEqual(['d', 'c', 'b', 'a']);
    expect(names(await queue.getJobs(['waiting'], 0, 0, false))).toEqual(['d']);
    expect(names(await queue.getJobs(['waiting'], 2, 9, true))).toEqual(['c', 'd']);
  });

  it('lists prioritized and delayed jobs in the order in which they will run', async ({ lab }) => {
    const { queue } = lab;
    await queue.add('three', {}, { priority: 3 });
    await queue.add('one', {}, { priority: 1 });
    await queue.add('late', {}, { delay: 90_000 });
    await queue.add('soon', {}, { delay: 60_000 });
    expect(names(await queue.getPrioritized())).toEqual(['one', 'three']);
    expect(names(await queue.getDelayed())).toEqual(['soon', 'late']);
    expect(names(await queue.getDelayed(1, 1))).toEqual(['late']);
  });

  it('lists finished jobs newest first', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: {} })));
    const worker = lab.worker(async (job) => {
      await pause(3);
      if (job.name === 'b') throw new Error('b');
    });
    await lab.ended(worker, 3);
    expect(names(await queue.getCompleted())).toEqual(['c', 'a']);
    expect(names(await queue.getCompleted(0, 0))).toEqual(['c']);
    expect(names(await queue.getFailed())).toEqual(['b']);
    expect(names(await queue.getJobs(['completed', 'failed'], 0, -1, true))).toEqual([
      'a',
      'c',
      'b',
    ]);
  });

  it('lists active jobs and workers', async ({ lab }) => {
    const { queue } = lab;
    await queue.addBulk(['a', 'b'].map((name) => ({ name, data: {} })));
    const step = createGate();
    const worker = lab.worker(() => step.opened, { concurrency: 2, name: 'ann' });
    await waitUntil(async () => (await queue.getActiveCount()) === 2);
    expect(names(await queue.getActive())).toEqual(['a', 'b']);
    expect((await queue.getWorkers()).map((found) => found.name)).toEqual([queue.name]);
    step.open();
    await worker.close();
    await waitUntil(async () => (await queue.getWorkersCount()) === 0);
  });

  it('answers queries about children for jobs without children', async ({ lab }) => {
    const job = await lab.queue.add('single', {});
    expect(await job.getChildrenValues()).toEqual({});
    expect(await job.getDependencies()).toEqual({
      failed: [],
      ignored: {},
      processed: {},
      unprocessed: [],
    });
    expect(await job.getDependenciesCount()).toEqual({
      failed: 0,
      ignored: 0,
      processed: 0,
      unprocessed: 0,
    });
  });

  it('collects metrics if the worker is configured to', async ({ lab }) => {
    const { queue } = lab;
    expect((await queue.getMetrics('completed')).count).toBe(0);
    await queue.addBulk(['a', 'b', 'bad'].map((name) => ({ name, data: {} })));
    const worker = lab.worker(
      async (job) => {
        if (job.name === 'bad') throw new Error('bad');
      },
      { metrics: { maxDataPoints: 10 } },
    );
    await lab.ended(worker, 3);
    expect((await queue.getMetrics('completed')).meta.count).toBe(2);
    expect((await queue.getMetrics('failed')).meta.count).toBe(1);
    expect(await queue.exportPrometheusMetrics()).toContain(
      `bullmq_job_completed_total{queue="${queue.name}"} 2`,
    );
  });
});
