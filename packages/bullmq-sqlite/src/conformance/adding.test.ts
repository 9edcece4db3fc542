import { expect, inject } from 'vitest';
import { describeOnBothBackends, pause } from '../testing/lab.ts';

describeOnBothBackends('adding jobs', inject('redisUrl'), (it) => {
  it('numbers jobs from 1 and returns them as they were added', async ({ lab }) => {
    const { queue } = lab;
    const added = await queue.add(
      'hello',
      { text: 'ä€😀', deep: [1, { a: null }] },
      { attempts: 3 },
    );
    const job = await queue.getJob('1');
    expect(added.id).toBe('1');
    expect(job?.name).toBe('hello');
    expect(job?.data).toEqual({ text: 'ä€😀', deep: [1, { a: null }] });
    expect(job?.opts.attempts).toBe(3);
    expect(job?.attemptsMade).toBe(0);
    expect(job?.progress).toBe(0);
    expect(await job?.getState()).toBe('waiting');
    expect(await queue.getJob('2')).toBeUndefined();
  });

  it('runs jobs in the order in which they were added', async ({ lab }) => {
    for (const name of ['a', 'b', 'c']) await lab.queue.add(name, {});
    expect(await lab.run(3)).toEqual(['a', 'b', 'c']);
  });

  it('adds many jobs in one call, in order and with their ids', async ({ lab }) => {
    const jobs = await lab.queue.addBulk([
      { name: 'a', data: {} },
      { name: 'b', data: {}, opts: { jobId: 'mine' } },
      { name: 'c', data: {} },
    ]);
    expect(jobs.map((job) => job.id)).toEqual(['1', 'mine', '3']);
    expect(await lab.run(3)).toEqual(['a', 'b', 'c']);
  });

  it('runs the newest LIFO job first', async ({ lab }) => {
    await lab.queue.add('a', {});
    await lab.queue.add('b', {}, { lifo: true });
    await lab.queue.add('c', {}, { lifo: true });
    expect(await lab.run(3)).toEqual(['c', 'b', 'a']);
  });

  it('runs jobs without priority first, then by priority, then in the order in which they were added', async ({
    lab,
  }) => {
    await lab.queue.add('five', {}, { priority: 5 });
    await lab.queue.add('two', {}, { priority: 2 });
    await lab.queue.add('two again', {}, { priority: 2 });
    await lab.queue.add('none', {});
    await lab.queue.add('max', {}, { priority: 2_097_151 });
    expect(await lab.run(5)).toEqual(['none', 'two', 'two again', 'five', 'max']);
  });

  it('counts jobs by priority and reports their state', async ({ lab }) => {
    const { queue } = lab;
    const job = await queue.add('two', {}, { priority: 2 });
    await queue.add('none', {});
    expect(await queue.getCountsPerPriority([0, 1, 2])).toEqual({ '0': 1, '1': 0, '2': 1 });
    expect(await job.getState()).toBe('prioritized');
    await job.changePriority({ priority: 0 });
    expect(await job.getState()).toBe('waiting');
  });

  it('moves a waiting job to the front when its priority changes with lifo', async ({ lab }) => {
    await lab.queue.add('a', {}, { priority: 3 });
    await lab.queue.add('b', {}, { priority: 3 });
    const job = await lab.queue.add('c', {}, { priority: 9 });
    await job.changePriority({ priority: 3, lifo: true });
    expect(await lab.run(3)).toEqual(['c', 'a', 'b']);
  });

  it('ignores a second job with the same id', async ({ lab }) => {
    await lab.queue.add('first', {}, { jobId: 'same' });
    const second = await lab.queue.add('second', {}, { jobId: 'same' });
    expect(second.id).toBe('same');
    expect(await lab.queue.count()).toBe(1);
    expect((await lab.queue.getJob('same'))?.name).toBe('first');
  });

  it('runs delayed jobs in the order in which they become due', async ({ lab }) => {
    const addedAt = Date.now();
    await lab.queue.add('late', {}, { delay: 3_000 });
    const soon = await lab.queue.add('soon', {}, { delay: 300 });
    expect(await soon.getState()).toBe('delayed');
    expect(await lab.run(2)).toEqual(['soon', 'late']);
    expect(Date.now() - addedAt).toBeGreaterThanOrEqual(3_000);
  });

  it('wakes an idle worker for a delayed job added later', async ({ lab }) => {
    const running = lab.run(2, { drainDelay: 60 });
    await pause(50);
    await lab.queue.add('later', {}, { delay: 900 });
    await lab.queue.add('sooner', {}, { delay: 200 });
    expect(await running).toEqual(['sooner', 'later']);
  });

  it('promotes and reschedules delayed jobs', async ({ lab }) => {
    const far = await lab.queue.add('far', {}, { delay: 3_600_000 });
    const farther = await lab.queue.add('farther', {}, { delay: 3_600_000 });
    await far.promote();
    await farther.changeDelay(30);
    expect(await lab.run(2)).toEqual(['far', 'farther']);
    await expect(far.promote()).rejects.toMatchObject({ code: -3 });
    await expect(far.changeDelay(1)).rejects.toMatchObject({ code: -3 });
  });

  it('wakes an idle worker as soon as a job is added', async ({ lab }) => {
    const running = lab.run(1, { drainDelay: 60 });
    await pause(50);
    await lab.queue.add('now', {});
    expect(await running).toEqual(['now']);
  });
});
