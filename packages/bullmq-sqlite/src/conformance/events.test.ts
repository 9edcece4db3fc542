import { QueueEventsProducer } from 'bullmq';
import { expect, inject } from 'vitest';
import { describeOnBothBackends, type TestQueue, waitUntil } from '../testing/lab.ts';

/** Records every event that a listener receives as `name:jobId`, with its relevant fields. */
function record(lab: TestQueue, lastEventId?: string): string[] {
  const heard: string[] = [];
  const events = lab.events(lastEventId);
  events.on('added', ({ jobId, name }) => heard.push(`added ${jobId} ${name}`));
  events.on('waiting', ({ jobId, prev }) => heard.push(`waiting ${jobId} ${prev ?? '-'}`));
  events.on('active', ({ jobId, prev }) => heard.push(`active ${jobId} ${prev}`));
  events.on('completed', ({ jobId, returnvalue }) =>
    heard.push(`completed ${jobId} ${JSON.stringify(returnvalue)}`),
  );
  events.on('failed', ({ jobId, failedReason }) => heard.push(`failed ${jobId} ${failedReason}`));
  events.on('retries-exhausted', ({ jobId, attemptsMade }) =>
    heard.push(`exhausted ${jobId} ${attemptsMade}`),
  );
  events.on('delayed', ({ jobId, delay }) =>
    heard.push(`delayed ${jobId} ${delay > Date.now() - 60_000 ? 'due' : delay}`),
  );
  events.on('progress', ({ jobId, data }) => heard.push(`progress ${jobId} ${data}`));
  events.on('removed', ({ jobId, prev }) => heard.push(`removed ${jobId} ${prev}`));
  events.on('duplicated', ({ jobId }) => heard.push(`duplicated ${jobId}`));
  events.on('deduplicated', ({ jobId, deduplicationId, deduplicatedJobId }) =>
    heard.push(`deduplicated ${jobId} ${deduplicationId} ${deduplicatedJobId}`),
  );
  events.on('paused', () => heard.push('paused'));
  events.on('resumed', () => heard.push('resumed'));
  events.on('drained', () => heard.push('drained'));
  events.on('cleaned', ({ count }) => heard.push(`cleaned ${count}`));
  return heard;
}

describeOnBothBackends('events', inject('redisUrl'), (it) => {
  it('reports the lifecycle of a successful job', async ({ lab }) => {
    const heard = record(lab);
    await lab.queue.add('greet', {});
    const worker = lab.worker(async (job) => {
      await job.updateProgress(50);
      return { ok: true };
    });
    await waitUntil(() => heard.includes('drained'));
    await worker.close();
    expect(heard).toEqual([
      'added 1 greet',
      'waiting 1 -',
      'active 1 waiting',
      'progress 1 50',
      'completed 1 {"ok":true}',
      'drained',
    ]);
  });

  it('reports the lifecycle of a job that is retried and fails', async ({ lab }) => {
    const heard = record(lab);
    await lab.queue.add('flaky', {}, { attempts: 3, backoff: { type: 'custom' } });
    const worker = lab.worker(() => Promise.reject(new Error('no')), {
      settings: { backoffStrategy: (attempts) => (attempts === 1 ? 0 : 30) },
    });
    await waitUntil(() => heard.includes('drained'));
    await worker.close();
    expect(heard).toEqual([
      'added 1 flaky',
      'waiting 1 -',
      'active 1 waiting',
      'waiting 1 active',
      'active 1 waiting',
      'delayed 1 due',
      'waiting 1 delayed',
      'active 1 waiting',
      'failed 1 no',
      'exhausted 1 3',
      'drained',
    ]);
  });

  it('reports administrative changes to jobs and queues', async ({ lab }) => {
    const { queue } = lab;
    const heard = record(lab);
    await queue.pause();
    await queue.add('a', {}, { jobId: 'same' });
    await queue.add('b', {}, { jobId: 'same' });
    await queue.add('c', {}, { deduplication: { id: 'chat' } });
    await queue.add('d', {}, { deduplication: { id: 'chat' } });
    const delayed = await queue.add('e', {}, { delay: 60_000, priority: 2 });
    await delayed.promote();
    await delayed.remove();
    await queue.clean(-1000, 10, 'wait');
    await queue.resume();
    await waitUntil(() => heard.includes('resumed'));
    expect(heard).toEqual([
      'paused',
      'added same a',
      'waiting same -',
      'duplicated same',
      'added 3 c',
      'waiting 3 -',
      'deduplicated 3 chat 4',
      'added 5 e',
      'delayed 5 due',
      'waiting 5 delayed',
      'removed 5 prioritized',
      'cleaned 2',
      'resumed',
    ]);
  });

  it('reports a follow-up before the end of the job that it follows', async ({ lab }) => {
    const deduplication = { id: 'chat', keepLastIfActive: true };
    const heard = record(lab);
    let runs = 0;
    const worker = lab.worker(async () => {
      runs += 1;
      if (runs === 1) await lab.queue.add('again', {}, { deduplication });
    });
    await lab.queue.add('first', {}, { deduplication });
    await waitUntil(() => heard.includes('drained'));
    await worker.close();
    expect(heard).toEqual([
      'added 1 first',
      'waiting 1 -',
      'active 1 waiting',
      'deduplicated 1 chat 2',
      'added 2 again',
      'waiting 2 -',
      'completed 1 null',
      'active 2 waiting',
      'completed 2 null',
      'drained',
    ]);
  });

  it('lets a caller wait for the result of a job', async ({ lab }) => {
    const events = lab.events();
    lab.worker(async (job) => {
      if (job.name === 'bad') throw new Error('too bad');
      return 42;
    });
    const good = await lab.queue.add('good', {});
    expect(await good.waitUntilFinished(events)).toBe(42);
    const bad = await lab.queue.add('bad', {});
    await expect(bad.waitUntilFinished(events)).rejects.toThrow('too bad');
    expect(await good.waitUntilFinished(events)).toBe(42);
  });

  it('replays the history from the beginning for a late listener', async ({ lab }) => {
    await lab.queue.add('early', {});
    const heard = record(lab);
    await waitUntil(() => heard.length === 2);
    expect(heard).toEqual(['added 1 early', 'waiting 1 -']);
  });

  it('continues after the last event that a listener has seen', async ({ lab }) => {
    const first = lab.events();
    const ids: string[] = [];
    first.on('added', (_args, id) => ids.push(id));
    await lab.queue.add('one', {});
    await waitUntil(() => ids.length === 1);
    await lab.queue.add('two', {});
    const heard = record(lab, ids[0]);
    await waitUntil(() => heard.length === 3);
    expect(heard).toEqual(['waiting 1 -', 'added 2 two', 'waiting 2 -']);
  });

  it('delivers custom events from the application', async ({ lab }) => {
    const events = lab.events();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    // BullMQ types listeners by event name, so a custom event needs its own type.
    (events as unknown as NodeJS.EventEmitter).on('answer', resolve);
    const producer = new QueueEventsProducer(
      lab.queue.name,
      { connection: lab.store.connection },
      lab.store.backend,
    );
    await producer.publishEvent({ eventName: 'answer', value: 42 });
    expect(await promise).toEqual({ value: '42' });
    await producer.close();
  });

  it('keeps approximately the configured number of events', async ({ lab }) => {
    for (let n = 0; n < 30; n += 1) await lab.queue.add('a', {});
    const worker = lab.worker(async () => {});
    await lab.ended(worker, 30);
    await worker.close();
    await lab.queue.trimEvents(0);
    await lab.queue.add('last', {});
    const heard = record(lab);
    await waitUntil(() => heard.includes('added 31 last'));
    expect(heard.length).toBeLessThan(110);
  });
});
