import { DelayedError, RateLimitError, UnrecoverableError, WaitingError } from 'bullmq';
import { expect, inject } from 'vitest';
import { createGate, describeOnBothBackends, pause, waitUntil } from '../testing/lab.ts';

describeOnBothBackends('job outcomes', inject('redisUrl'), (it) => {
  it('stores the result, the times and the number of attempts', async ({ lab }) => {
    await lab.queue.add('sum', {});
    await lab.ended(
      lab.worker(async () => ({ total: 3 }), { name: 'adder' }),
      1,
    );
    const job = await lab.queue.getJob('1');
    expect(job?.returnvalue).toEqual({ total: 3 });
    expect(job?.attemptsMade).toBe(1);
    expect(job?.attemptsStarted).toBe(1);
    expect(job?.processedBy).toBe('adder');
    expect(job?.finishedOn).toBeGreaterThanOrEqual(job?.processedOn ?? Number.NaN);
    expect(await job?.getState()).toBe('completed');
  });

  it('retries immediately up to the number of attempts, then fails with the reason and the stack traces', async ({
    lab,
  }) => {
    await lab.queue.add('broken', {}, { attempts: 3 });
    const worker = lab.worker(async (job) => {
      throw new Error(`try ${job.attemptsStarted}`);
    });
    await lab.ended(worker, 3);
    const job = await lab.queue.getJob('1');
    expect(await job?.getState()).toBe('failed');
    expect(job?.failedReason).toBe('try 3');
    expect(job?.attemptsMade).toBe(3);
    expect(job?.stacktrace?.map((trace) => trace.split('\n')[0])).toEqual([
      'Error: try 1',
      'Error: try 2',
      'Error: try 3',
    ]);
  });

  it('waits for the backoff between attempts', async ({ lab }) => {
    await lab.queue.add('flaky', {}, { attempts: 2, backoff: { type: 'fixed', delay: 1000 } });
    const times: number[] = [];
    const worker = lab.worker(async () => {
      times.push(Date.now());
      if (times.length === 1) throw new Error('first');
    });
    await lab.ended(worker, 1);
    const job = await lab.queue.getJob('1');
    expect(await job?.getState()).toBe('delayed');
    expect(job?.delay).toBe(1000);
    await lab.ended(worker, 2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(995);
  });

  it('does not retry an unrecoverable error', async ({ lab }) => {
    await lab.queue.add('hopeless', {}, { attempts: 5 });
    await lab.ended(
      lab.worker(() => Promise.reject(new UnrecoverableError('never'))),
      1,
    );
    expect(await lab.queue.getFailedCount()).toBe(1);
  });

  it('lets a processor delay its job without using an attempt', async ({ lab }) => {
    await lab.queue.add('busy', {}, { attempts: 1 });
    let runs = 0;
    const worker = lab.worker(async (job, token) => {
      runs += 1;
      if (runs > 1) return;
      await job.moveToDelayed(Date.now() + 50, token);
      throw new DelayedError();
    });
    await lab.ended(worker, 1);
    const job = await lab.queue.getJob('1');
    expect([runs, job?.attemptsMade, job?.attemptsStarted]).toEqual([2, 1, 2]);
  });

  it('lets a processor return its job to the front of the line', async ({ lab }) => {
    await lab.queue.addBulk([
      { name: 'a', data: {} },
      { name: 'b', data: {} },
    ]);
    const started: string[] = [];
    const worker = lab.worker(async (job, token) => {
      started.push(job.name);
      if (started.length > 1) return;
      await job.moveToWait(token);
      throw new WaitingError();
    });
    await lab.ended(worker, 2);
    expect(started).toEqual(['a', 'a', 'b']);
  });

  it('keeps the order when the queue is rate limited manually', async ({ lab }) => {
    await lab.queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: {} })));
    const started: string[] = [];
    const worker = lab.worker(
      async (job) => {
        started.push(job.name);
        if (started.length > 1) return;
        await lab.queue.rateLimit(100);
        throw new RateLimitError();
      },
      { limiter: { max: 100, duration: 1000 } },
    );
    const startedAt = Date.now();
    await lab.ended(worker, 3);
    expect(started).toEqual(['a', 'a', 'b', 'c']);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(90);
  });

  it('retries finished jobs on request', async ({ lab }) => {
    await lab.queue.add('flaky', {});
    let runs = 0;
    const worker = lab.worker(async () => {
      runs += 1;
      if (runs === 1) throw new Error('first');
      return 'fine';
    });
    await lab.ended(worker, 1);
    const failed = await lab.queue.getJob('1');
    await failed?.retry();
    await lab.ended(worker, 2);
    const job = await lab.queue.getJob('1');
    expect([job?.returnvalue, job?.failedReason, job?.attemptsMade]).toEqual([
      'fine',
      undefined,
      2,
    ]);
    await expect(failed?.retry()).rejects.toMatchObject({ code: -3 });
    await job?.retry('completed', { resetAttemptsMade: true });
    await lab.ended(worker, 3);
    expect((await lab.queue.getJob('1'))?.attemptsMade).toBe(1);
  });

  it('retries all failed jobs in a queue with one call', async ({ lab }) => {
    await lab.queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: {} })));
    const failing = lab.worker(() => Promise.reject(new Error('down')));
    await lab.ended(failing, 3);
    await failing.close();
    await lab.queue.retryJobs({ state: 'failed', count: 2 });
    expect(await lab.queue.getWaitingCount()).toBe(3);
    expect(await lab.run(3)).toEqual(['a', 'b', 'c']);
  });

  it('keeps the configured number of finished jobs', async ({ lab }) => {
    const names = ['a', 'b', 'c', 'd'];
    await lab.queue.addBulk(
      names.map((name) => ({ name, data: {}, opts: { removeOnComplete: 2 } })),
    );
    // The pause separates jobs, because Redis does not order jobs that end in the same millisecond.
    const worker = lab.worker(() => pause(3));
    await lab.ended(worker, 4);
    expect((await lab.queue.getCompleted()).map((job) => job.name)).toEqual(['d', 'c']);
    expect(await lab.queue.getJob('1')).toBeUndefined();
  });

  it("removes a finished job if its options say so, and uses the worker's setting otherwise", async ({
    lab,
  }) => {
    await lab.queue.add('own', {}, { removeOnComplete: true });
    await lab.queue.add('worker', {});
    await lab.queue.add('kept', {}, { removeOnComplete: false });
    await lab.run(3, { removeOnComplete: { count: 0 } });
    expect((await lab.queue.getCompleted()).map((job) => job.name)).toEqual(['kept']);
  });

  it('removes finished jobs past their age when another job ends', async ({ lab }) => {
    const removeOnFail = { age: 1 };
    await lab.queue.add('old', {}, { removeOnFail });
    const worker = lab.worker(() => Promise.reject(new Error('down')));
    await lab.ended(worker, 1);
    await pause(1100);
    await lab.queue.add('new', {}, { removeOnFail });
    await lab.ended(worker, 2);
    expect((await lab.queue.getFailed()).map((job) => job.name)).toEqual(['new']);
  });

  it('stores the data, progress and logs of a running job', async ({ lab }) => {
    await lab.queue.add('long', { step: 0 });
    const worker = lab.worker(async (job) => {
      await job.updateData({ step: 1 });
      await job.updateProgress({ percent: 50 });
      for (const line of ['one', 'two', 'three']) await job.log(line);
    });
    await lab.ended(worker, 1);
    const job = await lab.queue.getJob('1');
    expect([job?.data, job?.progress]).toEqual([{ step: 1 }, { percent: 50 }]);
    expect(await lab.queue.getJobLogs('1')).toEqual({ logs: ['one', 'two', 'three'], count: 3 });
    expect((await lab.queue.getJobLogs('1', 0, 1, false)).logs).toEqual(['three', 'two']);
    await job?.clearLogs(1);
    expect((await lab.queue.getJobLogs('1')).logs).toEqual(['three']);
    expect(await lab.queue.addJobLog('1', 'four', 1)).toBe(1);
    await expect(lab.queue.addJobLog('nobody', 'x')).rejects.toMatchObject({ code: -1 });
  });

  it('passes a cancellation to the processor', async ({ lab }) => {
    await lab.queue.add('long', {});
    const started = createGate();
    const worker = lab.worker((_job, _token, signal) => {
      started.open();
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () =>
          reject(new UnrecoverableError(String(signal.reason))),
        );
      });
    });
    await started.opened;
    expect(worker.cancelJob('1', 'stop it')).toBe(true);
    await waitUntil(async () => (await lab.queue.getFailedCount()) === 1);
    expect((await lab.queue.getJob('1'))?.failedReason).toBe('stop it');
  });
});
