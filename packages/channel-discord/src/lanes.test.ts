import { expect, it } from 'vitest';
import { TaskLanes } from './lanes.ts';

/** Tasks that record their name when they start and complete on request. */
function noted() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, end };
}

it('[D02] runs the tasks for one channel in order, but different channels concurrently', async () => {
  const { begun, work, end } = noted();
  const lanes = new TaskLanes();
  lanes.push('a', work('a1'));
  lanes.push('a', work('a2'));
  lanes.push('b', work('b1'));
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});

it('[D01] runs missed messages before messages that arrived while the lane was held', async () => {
  const { begun, work, end } = noted();
  const lanes = new TaskLanes();
  lanes.hold(0);
  lanes.hold(1);
  lanes.push('a', work('new'));
  lanes.unshift('a', work('missed'));
  lanes.release(0);
  expect(begun).toEqual([]);
  lanes.release(1);
  await end('missed');
  expect(begun).toEqual(['missed', 'new']);
});

it('[D07] queues a single replacement task when a lane is full', async () => {
  const lanes = new TaskLanes();
  const done: string[] = [];
  const work = (name: string) => async () => void done.push(name);
  lanes.hold(0);
  const placed = Array.from({ length: 1_005 }, () => lanes.push('a', work('one'), work('instead')));
  expect(placed.slice(-6)).toEqual(['queued', 'instead', 'left', 'left', 'left', 'left']);
  lanes.release(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done.length).toBe(1_001);
  expect(done.at(-1)).toBe('instead');
});

it('[D11] waits for running tasks on close and drops waiting tasks', async () => {
  const { begun, work, end } = noted();
  const lanes = new TaskLanes();
  lanes.push('a', work('a1'));
  lanes.push('a', work('a2'));
  const closed = lanes.close();
  lanes.push('a', work('a3'));
  await end('a1');
  await closed;
  expect(begun).toEqual(['a1']);
});
