import { setTimeout as sleep } from 'node:timers/promises';
import { type CrashableWork, type CrashCounts, noWorkRecord, type ReplyRoute } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { StoreError } from '@parley/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { computeCollectDelay, getStopReason, runLane } from './lane.ts';
import { type LaneScene, listMessageIds, openLaneScene } from './testing/lane-scene.ts';

let scene: LaneScene;
beforeAll(async () => {
  scene = await openLaneScene();
});
afterAll(() => scene.close());

/** Starts the lane's turn the way another worker would. */
function beginElsewhere(conversationId: string, leaseMs: number, owner = 'another') {
  const work = { conversationId, owner, leaseMs };
  return scene.store.lanes.begin(work, 'collect', `${owner} in ${conversationId}`, Date.now());
}

describe('a lane of messages', () => {
  it('[D03] collects messages that arrive during a turn into the next turn', async () => {
    const turns: (readonly string[])[] = [];
    const written = [await scene.write('collect')];
    const deps = scene.laneDeps(async (turn, lease) => {
      turns.push(listMessageIds(turn));
      if (turns.length === 1) {
        for (let i = 0; i < 3; i += 1) written.push(await scene.write('collect'));
      }
      await scene.answer(turn, lease);
    });
    expect(await runLane(deps, 'collect', new AbortController())).toBeNull();
    expect(turns).toEqual([written.slice(0, 1), written.slice(1)]);
  });

  it('[D13] syncs the attempt count to disk when an earlier run of the turn did not end well', async () => {
    const synced: string[] = [];
    const lanes = { ...scene.store.lanes };
    lanes.syncAttempt = async (turnId) => {
      synced.push(turnId);
      await scene.store.lanes.syncAttempt(turnId);
    };
    const run = (fails: boolean) => {
      const deps = scene.laneDeps(
        async (turn, lease) => {
          if (fails) throw new Error('no');
          await scene.answer(turn, lease);
        },
        { lanes },
      );
      return runLane(deps, 'synced', new AbortController());
    };
    await scene.write('synced');
    await expect(run(true)).rejects.toThrow('no');
    expect(synced).toEqual([]);
    await run(false);
    expect(synced).toHaveLength(1);
  });

  describe('a lane whose claim has crashed the process', () => {
    /** Runs the lane and returns its turns and notices. */
    async function runAfter(conversationId: string, ends: CrashCounts) {
      const [recorded, turns, notified]: [CrashableWork[], string[][], ReplyRoute[]] = [[], [], []];
      const { log, lines } = createRecordingLogger();
      const deps = scene.laneDeps(
        async (turn, lease) => {
          turns.push([...listMessageIds(turn)]);
          await scene.answer(turn, lease);
        },
        {
          work: {
            run: (work, task) => {
              recorded.push(work);
              return noWorkRecord.run(work, task);
            },
            endsOf: () => ends,
          },
          notifyGivenUp: async (route) => void notified.push(route),
          log,
        },
      );
      expect(await runLane(deps, conversationId, new AbortController())).toBeNull();
      expect(new Set(recorded.map(({ kind, key }) => `${kind} ${key}`))).toEqual(
        new Set([`claim ${conversationId}`]),
      );
      const logs = lines.filter((line) => line.includes('gave up the waiting messages'));
      return { turns, notices: notified.length, logs: logs.length };
    }

    it('[D13] claims the turn again after one hang or a few crashes', async () => {
      const id = await scene.write('claim-1');
      expect(await runAfter('claim-1', { hangs: 1, deaths: 4 })).toEqual({
        turns: [[id]],
        ...{ notices: 0, logs: 0 },
      });
    });

    it("[D13] gives up the lane's messages with a notice after the second hang", async () => {
      await scene.write('claim-2');
      const after = (hangs: number) => runAfter('claim-2', { hangs, deaths: 0 });
      expect(await after(2)).toEqual({ turns: [], notices: 1, logs: 1 });
      expect(await after(0)).toEqual({ turns: [], notices: 0, logs: 0 });
    });

    it("[D13] gives up the lane's messages without a notice if sending the notice crashed the process as well", async () => {
      await scene.write('claim-3');
      const given = { turns: [], notices: 0, logs: 1 };
      expect(await runAfter('claim-3', { hangs: 3, deaths: 0 })).toEqual(given);
    });

    it('[D13] [U12] does not report messages as given up if they still wait or no longer exist', async () => {
      const nothing = { turns: [], notices: 0, logs: 0 };
      const after = () => runAfter('claim-4', { hangs: 2, deaths: 0 });
      const id = await scene.write('claim-4');
      const { store } = scene;
      await store.takeovers.takeOver({ conversationId: 'claim-4', by: 'Ann', lastsMs: 60_000 });
      expect(await after()).toEqual(nothing);
      await store.takeovers.handBack('claim-4', 'Ann');
      const other = { conversationId: 'claim-4', owner: 'another', leaseMs: 60_000 };
      const begun = await store.lanes.begin(other, 'collect', 'claim-4-turn', Date.now());
      if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
      expect(listMessageIds(begun.turn)).toEqual([id]);
      expect(await after()).toEqual(nothing);
      await store.lanes.release(begun.lease);
      const deletion = { conversationId: 'claim-4', by: 'Ann', now: Date.now() };
      await store.forgetting.deleteConversation({ ...deletion, onStopped() {} });
      expect(await after()).toEqual(nothing);
    });

    it('[D13] claims the turn anyway if the lane does not contain messages from people', async () => {
      await scene.write('sub:claim');
      const { turns } = await runAfter('sub:claim', { hangs: 2, deaths: 0 });
      expect(turns).toHaveLength(1);
    });
  });

  it("[D16] releases the lane together with the turn's commit, without another query, when no message is waiting", async () => {
    await scene.write('leaves');
    const asked: string[] = [];
    const lanes = { ...scene.store.lanes };
    for (const name of ['claim', 'newestWaiting', 'release'] as const) {
      const real = lanes[name];
      Object.assign(lanes, {
        [name]: (...args: []) => asked.push(name) && Reflect.apply(real, lanes, args),
      });
    }
    const deps = scene.laneDeps(
      async (turn, lease) => {
        expect(await scene.answerAndLeave(turn, lease)).toBe('left');
      },
      { lanes },
    );
    expect(await runLane(deps, 'leaves', new AbortController())).toBeNull();
    expect(asked).toEqual([]);
    await scene.write('leaves');
    expect((await beginElsewhere('leaves', 1)).kind).toBe('turn');
  });

  it("[D03] keeps the lane after the turn's commit while messages wait for the next turn", async () => {
    const [first] = [await scene.write('stays')];
    const turns: (readonly string[])[] = [];
    const ends: string[] = [];
    const written: string[] = [];
    const deps = scene.laneDeps(async (turn, lease) => {
      turns.push(listMessageIds(turn));
      if (turns.length === 1) written.push(await scene.write('stays'), await scene.write('stays'));
      ends.push(await scene.answerAndLeave(turn, lease));
    });
    expect(await runLane(deps, 'stays', new AbortController())).toBeNull();
    expect(turns).toEqual([[first], written]);
    expect(ends).toEqual(['committed', 'left']);
  });

  it('[D02] belongs to the next worker once it has been released, even if the turn keeps running after its commit', async () => {
    await scene.write('after');
    const stop = new AbortController();
    const deps = scene.laneDeps(
      async (turn, lease) => {
        await scene.answerAndLeave(turn, lease);
        await scene.write('after');
        expect((await beginElsewhere('after', 60_000)).kind).toBe('turn');
        // The turn lasts longer than the lease, which is neither renewed nor counted as lost.
        await sleep(60);
      },
      { leaseMs: 20 },
    );
    await runLane(deps, 'after', stop);
    expect(stop.signal.aborted).toBe(false);
    expect((await beginElsewhere('after', 1, 'a third')).kind).toBe('busy');
  });

  it('[D03] keeps collecting while a person writes a burst of messages', async () => {
    const turns: (readonly string[])[] = [];
    await scene.write('burst');
    let burst: Promise<unknown> = Promise.resolve();
    const deps = scene.laneDeps(
      async (turn, lease) => {
        turns.push(listMessageIds(turn));
        await scene.answer(turn, lease);
        if (turns.length > 1) return;
        await scene.write('burst');
        burst = sleep(20).then(() => scene.write('burst'));
      },
      { collectPauseMs: 200 },
    );
    await runLane(deps, 'burst', new AbortController());
    await burst;
    expect(turns.map(({ length }) => length)).toEqual([1, 2]);
  });

  it('[D03] answers messages one by one in followup mode, without a pause', async () => {
    const turns: (readonly string[])[] = [];
    const written = [await scene.write('follow'), await scene.write('follow')];
    const run = async (
      ...[turn, lease]: Parameters<ReturnType<typeof scene.laneDeps>['runTurn']>
    ) => {
      turns.push(listMessageIds(turn));
      await scene.answer(turn, lease);
    };
    const deps = scene.laneDeps(run, { busy: 'followup', collectPauseMs: 60_000 });
    await runLane(deps, 'follow', new AbortController());
    expect(turns).toEqual(written.map((id) => [id]));
  });

  it('[F08] releases the lane while an album may be incomplete, before or after a turn, instead of waiting for other messages', async () => {
    const lengths: number[] = [];
    const deps = scene.laneDeps(async (turn, lease) => {
      lengths.push(turn.messages.length);
      if (lengths.length === 1) await scene.write('album', { settlesAt: Date.now() + 60_000 });
      await scene.answer(turn, lease);
    });
    await scene.write('album');
    const again = await runLane(deps, 'album', new AbortController());
    expect(again).toBeGreaterThan(1_000);
    expect(await runLane(deps, 'album', new AbortController())).toBeGreaterThan(1_000);
    expect(lengths).toEqual([1]);
    const later = { ...deps, clock: () => Date.now() + 60_000 };
    expect(await runLane(later, 'album', new AbortController())).toBeNull();
    expect(lengths).toEqual([1, 1]);
  });

  it('[D02] leaves the lane to the worker that holds it, and reports when to check again', async () => {
    await scene.write('held');
    await beginElsewhere('held', 5_000);
    const deps = scene.laneDeps(async () => {
      throw new Error('must not run');
    });
    const again = await runLane(deps, 'held', new AbortController());
    expect(again).toBeGreaterThan(0);
    expect(again).toBeLessThanOrEqual(5_000);
  });

  it("[D02] ends its turn as soon as the lease is lost, and refuses that turn's commit", async () => {
    await scene.write('lost');
    const stop = new AbortController();
    const deps = scene.laneDeps(
      async (turn, lease, signal) => {
        await scene.loseLease('lost');
        await sleep(10_000, undefined, { signal }).catch(() => undefined);
        expect(getStopReason(signal)).toBe('lease-lost');
        expect(await scene.answer(turn, lease)).toBe(false);
      },
      { leaseMs: 50 },
    );
    await runLane(deps, 'lost', stop);
    expect(await scene.outcomes('lost')).toEqual([null]);
  });

  it('[D02] holds its lease until the turn ends', async () => {
    await scene.write('long');
    const deps = scene.laneDeps(
      async (turn, lease) => {
        await sleep(1_300);
        expect((await beginElsewhere('long', 100)).kind).toBe('busy');
        await scene.answer(turn, lease);
      },
      { leaseMs: 1_000 },
    );
    await runLane(deps, 'long', new AbortController());
    expect(await scene.outcomes('long')).toEqual(['answered']);
  });

  it('releases the lane when a turn throws, with its work unfinished', async () => {
    await scene.write('throws');
    const deps = scene.laneDeps(async () => {
      throw new Error('a defect');
    });
    await expect(runLane(deps, 'throws', new AbortController())).rejects.toThrow('a defect');
    expect(await scene.store.lanes.withWork(100, 10_000)).toContain('throws');
  });

  it('[D01] retries a turn without limit while the database cannot store its result', async () => {
    await scene.write('full disk');
    const attempts: number[] = [];
    const full = new StoreError('store-full', 'the disk is full');
    const run = (error: Error | null) =>
      runLane(
        scene.laneDeps(async (turn, lease) => {
          attempts.push(turn.attempts);
          if (error !== null) throw error;
          await scene.answer(turn, lease);
        }),
        'full disk',
        new AbortController(),
      );
    for (let nth = 0; nth < 3; nth += 1) await expect(run(full)).rejects.toBe(full);
    await expect(run(new Error('a defect'))).rejects.toThrow('a defect');
    await run(null);
    expect(attempts).toEqual([0, 0, 0, 0, 1]);
    expect(await scene.outcomes('full disk')).toEqual(['answered']);
  });

  it('does not fail a finished turn if the lane cannot be released', async () => {
    await scene.write('kept');
    const { log, lines } = createRecordingLogger();
    const lanes = {
      ...scene.store.lanes,
      release: () => Promise.reject(new Error('database away')),
    };
    const stop = new AbortController();
    const deps = scene.laneDeps(
      async (turn, lease) => {
        await scene.answer(turn, lease);
        stop.abort('handed-back');
      },
      { lanes, log },
    );
    await runLane(deps, 'kept', stop);
    expect(lines.join()).toContain('database away');
    expect(await scene.outcomes('kept')).toEqual(['answered']);
  });

  it('[D02] ends its turn when the lease expires because the database does not answer', async () => {
    await scene.write('away');
    const { log, lines } = createRecordingLogger();
    const lanes = { ...scene.store.lanes, renew: () => Promise.reject(new Error('away')) };
    let reason: unknown;
    const deps = scene.laneDeps(
      async (_turn, _lease, signal) => {
        await sleep(10_000, undefined, { signal }).catch(() => undefined);
        reason = getStopReason(signal);
      },
      // The lease is long enough for three renewals, even on a busy machine.
      { lanes, log, leaseMs: 1_000 },
    );
    await runLane(deps, 'away', new AbortController());
    expect(reason).toBe('lease-lost');
    expect(lines.length).toBeGreaterThan(1);
  });

  it('does not start a turn after it was told to stop', async () => {
    await scene.write('stopped');
    const stop = new AbortController();
    stop.abort('handed-back');
    const deps = scene.laneDeps(async () => {
      throw new Error('must not run');
    });
    expect(await runLane(deps, 'stopped', stop)).toBeNull();
    expect(await scene.outcomes('stopped')).toEqual([null]);
  });
});

describe('stopReasonOf', () => {
  it.each(['stopped', 'lease-lost', 'handed-back'] as const)(
    'returns the reason of the signal: %s',
    (reason) => {
      expect(getStopReason(AbortSignal.abort(reason))).toBe(reason);
    },
  );

  it('returns null while the turn may continue', () => {
    expect(getStopReason(new AbortController().signal)).toBeNull();
  });

  it('returns handed-back when the signal does not have a reason', () => {
    expect(getStopReason(AbortSignal.abort())).toBe('handed-back');
  });
});

describe('the pause before messages are collected into one turn', () => {
  it.each([
    ['lasts its full length after a new message', { quietForMs: 0 }, 500],
    ['is shorter by the age of the newest message', { quietForMs: 200 }, 300],
    ['is skipped when the newest message is old enough', { quietForMs: 600 }, 0],
    [
      'ends after ten pauses even if the person keeps writing',
      { quietForMs: 0, waitedMs: 5_000 },
      0,
    ],
    ['is shorter towards that limit', { quietForMs: 0, waitedMs: 4_900 }, 100],
    ['does not grow when the clock jumped back', { quietForMs: -98_000 }, 500],
  ])('[D03] %s', (_case, facts, pause) => {
    expect(computeCollectDelay({ pauseMs: 500, waitedMs: 0, ...facts })).toBe(pause);
  });
});
