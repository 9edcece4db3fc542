import { describe, expect, it } from 'vitest';
import { createLanes } from './lanes.ts';

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
