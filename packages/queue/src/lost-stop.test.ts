import { once } from 'node:events';
import { silentLogger } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getStopReason, type RunTurn } from './lane.ts';
import { type LaneWorker, startLaneWorker } from './lane-worker.ts';
import { createLocalBus } from './local-bus.ts';
import { type LaneScene, openLaneScene } from './testing/lane-scene.ts';

/** The lease is renewed after 300 ms, just as the real lease of 8 s is renewed after 2.4 s. */
const LEASE_MS = 1_000;

let scene: LaneScene;
let worker: LaneWorker | undefined;
beforeEach(async () => {
  scene = await openLaneScene();
});
afterEach(async () => {
  await worker?.close(0);
  await scene.close();
});

describe('a /stop whose live event never reaches the worker', () => {
  it('[G05] ends the turn at its next lease renewal, and its answer is not sent', async () => {
    const ends: unknown[] = [];
    const { promise: hasStarted, resolve: starts } = Promise.withResolvers<void>();
    const runTurn: RunTurn = async (
      ...[turn, lease, signal]: Parameters<Parameters<LaneScene['laneDeps']>[0]>
    ) => {
      starts();
      if (!signal.aborted) await once(signal, 'abort');
      // Even a turn that ignores its signal cannot commit.
      ends.push(getStopReason(signal), await scene.answer(turn, lease));
    };
    const deaf = createLocalBus(silentLogger);
    worker = await startLaneWorker(scene.laneDeps(runTurn, { leaseMs: LEASE_MS }), {
      queue: scene.turns,
      bus: deaf,
      concurrency: 5,
      sweepMs: 5_000,
    });
    await scene.write('c');
    await scene.turns.wake('c');
    await hasStarted;
    await scene.stop('c');
    expect(await scene.outcomes('c')).toEqual(['stopped']);
    await expect.poll(() => ends).toEqual(['lease-lost', false]);
    expect(await scene.outcomes('c')).toEqual(['stopped']);
  });

  it('[G05] does not keep the lane from answering the next message', async () => {
    const started: string[] = [];
    const runTurn: RunTurn = async (
      ...[turn, lease, signal]: Parameters<Parameters<LaneScene['laneDeps']>[0]>
    ) => {
      started.push(turn.turnId);
      if (started.length === 1) await once(signal, 'abort');
      await scene.answer(turn, lease);
    };
    const start = (owner: string) =>
      startLaneWorker(scene.laneDeps(runTurn, { leaseMs: LEASE_MS, owner }), {
        queue: scene.turns,
        bus: createLocalBus(silentLogger),
        concurrency: 5,
        sweepMs: 100,
      });
    worker = await start('one');
    await scene.write('c');
    await scene.turns.wake('c');
    await expect.poll(() => started).toHaveLength(1);
    await scene.stop('c');
    await scene.write('c');
    await scene.turns.wake('c');
    await expect.poll(() => scene.outcomes('c')).toEqual(['stopped', 'answered']);
  });
});
