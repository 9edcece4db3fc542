import { describe, expect, it } from 'vitest';
import { createLanes, rejectOnAbort } from './concurrency.ts';

describe('lanes', () => {
  it('[D02] run the tasks of a lane sequentially, independently of other lanes and even if a task fails', async () => {
    const inLanes = createLanes();
    const gate = Promise.withResolvers<void>();
    const done: string[] = [];
    const note = (name: string) => async () => void done.push(name);
    const broken = inLanes('a', async () => {
      await gate.promise;
      throw new Error('no');
    });
    const after = inLanes('a', note('a2'));
    await inLanes('b', note('b1'));
    expect(done).toEqual(['b1']);
    gate.resolve();
    await expect(broken).rejects.toThrow('no');
    await after;
    expect(await inLanes('a', async () => 'again')).toBe('again');
    expect(done).toEqual(['b1', 'a2']);
  });
});

describe('work that is awaited until a signal is aborted', () => {
  const never = new Promise<never>(() => {});

  it('returns the result of the work', async () => {
    expect(await rejectOnAbort(Promise.resolve(1), new AbortController().signal)).toBe(1);
  });

  it('rejects when the signal is aborted later, or was aborted before', async () => {
    const stop = new AbortController();
    const waiting = rejectOnAbort(never, stop.signal);
    stop.abort('closing');
    await expect(waiting).rejects.toBe('closing');
    const late = () => new Error('no answer in time');
    await expect(rejectOnAbort(never, stop.signal, late)).rejects.toThrow('no answer in time');
  });
});
