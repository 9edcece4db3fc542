import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, waitUntil } from '../testing/lab.ts';

const DAY_MS = 86_400_000;

describeOnBothBackends('job schedulers', inject('redisUrl'), (it) => {
  it('every: runs immediately and then at even intervals', async ({ lab }) => {
    const first = await lab.queue.upsertJobScheduler('tick', { every: 200 }, { name: 'beat' });
    expect(first?.id).toMatch(/^repeat:tick:\d+$/);
    const due: number[] = [];
    const origins = new Set<string>();
    const worker = lab.worker(async (job) => {
      due.push(Number(job.id?.split(':')[2]));
      origins.add(`${job.name} of ${job.repeatJobKey}`);
    });
    await lab.ended(worker, 3);
    await lab.queue.removeJobScheduler('tick');
    const [a = 0, b = 0, c = 0] = due;
    expect([(b - a) % 200, (c - b) % 200]).toEqual([0, 0]);
    expect([...origins]).toEqual(['beat of tick']);
  });

  it('every: has exactly one job for the next run', async ({ lab }) => {
    await lab.queue.upsertJobScheduler('tick', { every: DAY_MS });
    await lab.queue.upsertJobScheduler('tick', { every: DAY_MS });
    expect(await lab.queue.getJobSchedulersCount()).toBe(1);
    expect(await lab.queue.getJobCounts('waiting', 'delayed')).toEqual({ waiting: 1, delayed: 0 });
    await lab.ended(
      lab.worker(async () => {}),
      1,
    );
    expect(await lab.queue.getJobCounts('waiting', 'delayed')).toEqual({ waiting: 0, delayed: 1 });
    const [next] = await lab.queue.getDelayed();
    const scheduler = await lab.queue.getJobScheduler('tick');
    expect(next?.id).toBe(`repeat:tick:${scheduler?.next}`);
    expect(scheduler?.iterationCount).toBe(2);
  });

  it('pattern: plans the next run in the given time zone, with the job template', async ({
    lab,
  }) => {
    const opts = { attempts: 3, removeOnComplete: true };
    await lab.queue.upsertJobScheduler(
      'morning',
      { pattern: '0 7 * * *', tz: 'Europe/Vienna' },
      { name: 'greet', data: { text: 'good morning' }, opts },
    );
    const scheduler = await lab.queue.getJobScheduler('morning');
    expect(scheduler).toMatchObject({
      key: 'morning',
      name: 'greet',
      pattern: '0 7 * * *',
      tz: 'Europe/Vienna',
      template: { data: { text: 'good morning' }, opts },
    });
    const hour = new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'Europe/Vienna',
    }).format(scheduler?.next);
    expect(hour).toBe('07:00');
    const [job] = await lab.queue.getDelayed();
    expect(job?.data).toEqual({ text: 'good morning' });
    expect(job?.opts.attempts).toBe(3);
  });

  it('replaces the planned job when the interval or the template changes', async ({ lab }) => {
    const { queue } = lab;
    await queue.upsertJobScheduler('report', { pattern: '0 7 * * *' }, { data: { v: 1 } });
    await queue.upsertJobScheduler('report', { pattern: '0 9 * * *' }, { data: { v: 2 } });
    const planned = await queue.getDelayed();
    expect(planned.map((job) => job.data)).toEqual([{ v: 2 }]);
    await queue.upsertJobScheduler('report', { every: DAY_MS }, { data: { v: 3 } });
    expect(await queue.getDelayedCount()).toBe(0);
    expect((await queue.getWaiting()).map((job) => job.data)).toEqual([{ v: 3 }]);
    expect((await queue.getJobScheduler('report'))?.every).toBe(DAY_MS);
  });

  it('removes a scheduler together with its planned job', async ({ lab }) => {
    const { queue } = lab;
    await queue.upsertJobScheduler('report', { pattern: '0 7 * * *' });
    expect(await queue.removeJobScheduler('report')).toBe(true);
    expect(await queue.removeJobScheduler('report')).toBe(false);
    expect(await queue.getDelayedCount()).toBe(0);
    expect(await queue.getJobScheduler('report')).toBeUndefined();
  });

  it('does not plan another run when a scheduler is removed during a run', async ({ lab }) => {
    const step = createGate();
    await lab.queue.upsertJobScheduler('tick', { every: 50 });
    const worker = lab.worker(() => step.opened);
    await waitUntil(async () => (await lab.queue.getActiveCount()) === 1);
    await lab.queue.removeJobScheduler('tick');
    const done = lab.ended(worker, 1);
    step.open();
    await done;
    expect(await lab.queue.getJobCounts('waiting', 'delayed', 'active')).toEqual({
      waiting: 0,
      delayed: 0,
      active: 0,
    });
  });

  it('stops after the configured number of runs', async ({ lab }) => {
    await lab.queue.upsertJobScheduler('thrice', { every: 30, limit: 3 });
    const worker = lab.worker(async () => {});
    await lab.ended(worker, 3);
    expect(await lab.queue.getJobCounts('waiting', 'delayed', 'active')).toEqual({
      waiting: 0,
      delayed: 0,
      active: 0,
    });
  });

  it('continues after a run that failed and was retried', async ({ lab }) => {
    await lab.queue.upsertJobScheduler('tick', { every: 100 }, { opts: { attempts: 2 } });
    let runs = 0;
    const worker = lab.worker(async () => {
      runs += 1;
      if (runs === 1) throw new Error('first');
    });
    await lab.ended(worker, 3);
    await lab.queue.removeJobScheduler('tick');
    expect(await lab.queue.getFailedCount()).toBe(0);
  });

  it('lists schedulers by their next run', async ({ lab }) => {
    const { queue } = lab;
    const startDate = Date.now() + DAY_MS;
    await queue.upsertJobScheduler('later', { every: DAY_MS, startDate: startDate + 1000 });
    await queue.upsertJobScheduler('sooner', { every: DAY_MS, startDate });
    const keys = async (start: number, end: number, asc: boolean) =>
      (await queue.getJobSchedulers(start, end, asc)).map((scheduler) => scheduler.key);
    expect(await keys(0, -1, true)).toEqual(['sooner', 'later']);
    expect(await keys(0, 0, false)).toEqual(['later']);
    expect((await queue.getJobScheduler('sooner'))?.next).toBe(startDate);
  });

  it('does not allow the planned job to be removed separately', async ({ lab }) => {
    const { queue } = lab;
    const job = await queue.upsertJobScheduler('report', { pattern: '0 7 * * *' });
    await expect(job?.remove()).rejects.toMatchObject({ code: -8 });
    await queue.add('other', {});
    await queue.drain(true);
    expect(await queue.getJobCounts('waiting', 'delayed')).toEqual({ waiting: 0, delayed: 1 });
    expect(await queue.clean(0, 10, 'delayed')).toEqual([]);
  });

  it('skips slots whose jobs already exist', async ({ lab }) => {
    const { queue } = lab;
    const startDate = Date.now() + DAY_MS;
    await queue.add('old', {}, { jobId: `repeat:tick:${startDate}` });
    const job = await queue.upsertJobScheduler('tick', { every: 1000, startDate });
    expect(job?.id).toBe(`repeat:tick:${startDate + 1000}`);
  });

  it('lets a job change the scheduler that created it', async ({ lab }) => {
    const { queue } = lab;
    const repeat = { pattern: '0 0 1 1 *' };
    await queue.upsertJobScheduler('yearly', repeat, { name: 'first' });
    await (await queue.getDelayed())[0]?.promote();
    const worker = lab.worker(async () => {
      await queue.upsertJobScheduler('yearly', repeat, { name: 'second' });
    });
    await lab.ended(worker, 1);
    expect(await queue.getJobCounts('completed', 'failed', 'delayed')).toEqual({
      completed: 1,
      failed: 0,
      delayed: 1,
    });
    expect((await queue.getJobScheduler('yearly'))?.name).toBe('second');
  });

  it('does not report an offset for a pattern, and reports the requested offset for "every"', async ({
    lab,
  }) => {
    const { queue } = lab;
    const pattern = await queue.upsertJobScheduler('hourly', { pattern: '0 * * * *', offset: 7 });
    expect((await queue.getJobScheduler('hourly'))?.offset).toBeFalsy();
    expect((await queue.getJob(pattern?.id ?? ''))?.opts).not.toHaveProperty('repeat.offset');
    await queue.upsertJobScheduler('every', { every: 60_000, offset: 777 });
    const every = await queue.getJobScheduler('every');
    expect([every?.offset, (every?.next ?? 0) % 60_000]).toEqual([777, 777]);
  });

  it('leaves a promoted job in line while the queue is paused', async ({ lab }) => {
    const { queue } = lab;
    await queue.upsertJobScheduler('yearly', { pattern: '0 0 1 1 *' }, { name: 'planned' });
    await queue.pause();
    await (await queue.getDelayed())[0]?.promote();
    const again = queue.upsertJobScheduler('yearly', { pattern: '0 0 1 1 *' });
    await expect(again).rejects.toMatchObject({ code: -10 });
    await queue.upsertJobScheduler('tick', { every: DAY_MS }, { name: 'at once' });
    await queue.upsertJobScheduler('tick', { every: DAY_MS }, { name: 'tomorrow' });
    const names = async (state: 'waiting' | 'delayed') =>
      (await queue.getJobs([state])).map(({ name }) => name).sort();
    expect([await names('waiting'), await names('delayed')]).toEqual([
      ['at once', 'planned'],
      ['tomorrow'],
    ]);
  });
});
