import { setTimeout as sleep } from 'node:timers/promises';
import { type BusyMode, type LiveEvent, ParleyError } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WakeUpHandler } from './keyed-work.ts';
import { getStopReason, type RunTurn } from './lane.ts';
import { type LaneWorker, startLaneWorker } from './lane-worker.ts';
import { type LaneScene, listMessageIds, openLaneScene } from './testing/lane-scene.ts';
import type { RewakeResult, WakeUpQueue } from './wake-up-queue.ts';

let scene: LaneScene;
const workers: LaneWorker[] = [];
beforeAll(async () => {
  scene = await openLaneScene();
});
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(1_000))));
afterAll(() => scene.close());

/** An event in a conversation, a number of ms after the previous event. */
interface Event {
  readonly afterMs: number;
  readonly what: 'message' | 'message without wake-up' | 'stop' | 'lease lost';
}

/** Records the turns that ran, for the assertions. */
interface Diary {
  readonly running: Map<string, number>;
  readonly answered: Map<string, string[]>;
  overlaps: number;
}

const conversation = (kinds: readonly Event['what'][]) =>
  fc.array(fc.record({ afterMs: fc.nat({ max: 12 }), what: fc.constantFrom(...kinds) }), {
    minLength: 1,
    maxLength: 10,
  });

let chats = 0;

/** Plays the conversations in parallel and resolves once no message is left unanswered. */
async function play(plans: readonly (readonly Event[])[]): Promise<readonly string[]> {
  const names = plans.map(() => {
    chats += 1;
    return `chat-${chats}`;
  });
  await Promise.all(
    plans.map(async (plan, index) => {
      for (const { afterMs, what } of plan) {
        await sleep(afterMs);
        await happen(names[index] ?? '', what);
      }
    }),
  );
  await expect
    .poll(async () => (await Promise.all(names.map(scene.outcomes))).flat(), {
      timeout: 10_000,
      interval: 5,
    })
    .not.toContain(null);
  return names;
}

async function happen(chat: string, what: Event['what']): Promise<void> {
  if (what === 'stop') return scene.stop(chat);
  if (what === 'lease lost') return scene.loseLease(chat);
  await scene.write(chat);
  if (what === 'message') await scene.turns.wake(chat);
}

/** Runs turns of up to `longestMs`; some of them ignore their signal. */
function randomTurn(diary: Diary, longestMs: number): RunTurn {
  return async (turn, lease, signal) => {
    const { conversationId: chat } = turn;
    const running = diary.running.get(chat) ?? 0;
    if (running > 0) diary.overlaps += 1;
    diary.running.set(chat, running + 1);
    const deaf = Math.random() < 0.3;
    await sleep(Math.random() * longestMs, undefined, deaf ? {} : { signal }).catch(
      () => undefined,
    );
    diary.running.set(chat, (diary.running.get(chat) ?? 0) - 1);
    if (await scene.answer(turn, lease)) {
      diary.answered.set(chat, [...(diary.answered.get(chat) ?? []), ...listMessageIds(turn)]);
    }
  };
}

async function startWorker(
  runTurn: RunTurn,
  owner: string,
  busy: BusyMode = 'collect',
): Promise<LaneWorker> {
  const options = { queue: scene.turns, bus: scene.bus, concurrency: 20, sweepMs: 15 };
  const worker = await startLaneWorker(scene.laneDeps(runTurn, { owner, busy }), options);
  workers.push(worker);
  return worker;
}

const newDiary = (): Diary => ({ running: new Map(), answered: new Map(), overlaps: 0 });

/** Checks that every answer is in order and given at most once. */
function expectInOrder(diary: Diary, names: readonly string[]): void {
  for (const name of names) {
    const numbers = (diary.answered.get(name) ?? []).map((id) => Number(id.split('_')[1]));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  }
}

describe('a lane worker', () => {
  it.each(['collect', 'followup', 'steer', 'interrupt'] as const)(
    '[D02] [D03] never runs two turns of a conversation at once, keeps their order and leaves no message unanswered, for random timings (%s)',
    async (mode) => {
      const diary = newDiary();
      await startWorker(randomTurn(diary, 15), 'one', mode);
      const kinds = ['message', 'message', 'message without wake-up', 'stop'] as const;
      await fc.assert(
        fc.asyncProperty(
          fc.array(conversation(kinds), { minLength: 1, maxLength: 5 }),
          async (plans) => {
            const names = await play(plans);
            expect(diary.overlaps).toBe(0);
            expectInOrder(diary, names);
            for (const [index, name] of names.entries()) {
              const stopped = plans[index]?.some(({ what }) => what === 'stop') ?? false;
              const outcomes = await scene.outcomes(name);
              expect(outcomes.every((outcome) => outcome === 'answered' || stopped)).toBe(true);
              const answered = outcomes.filter((outcome) => outcome === 'answered');
              expect(diary.answered.get(name) ?? []).toHaveLength(answered.length);
            }
          },
        ),
        toRunOptions(20),
      );
    },
  );

  it('[D02] [D04] answers each message once and in order when workers lose their leases', async () => {
    const diary = newDiary();
    const turn = randomTurn(diary, 15);
    await startWorker(turn, 'first');
    await startWorker(turn, 'second');
    const kinds = ['message', 'message without wake-up', 'lease lost'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(conversation(kinds), { minLength: 1, maxLength: 5 }),
        async (plans) => {
          const names = await play(plans);
          expectInOrder(diary, names);
          for (const name of names) {
            const outcomes = await scene.outcomes(name);
            expect(outcomes.every((outcome) => outcome === 'answered')).toBe(true);
            expect(diary.answered.get(name) ?? []).toHaveLength(outcomes.length);
          }
        },
      ),
      toRunOptions(20),
    );
  });

  it('[D02] runs a lane only once at a time, even when a wake-up is delivered twice', async () => {
    let handler: WakeUpHandler = async () => null;
    const queue = silentQueue(
      async () => 'stored',
      (given) => {
        handler = given;
      },
    );
    await scene.write('twice');
    let turns = 0;
    const deps = scene.laneDeps(async (turn, lease, signal) => {
      turns += 1;
      expect(await handler('twice', signal)).toBeGreaterThan(0);
      await scene.answer(turn, lease);
    });
    const options = { queue, bus: scene.bus, concurrency: 1, sweepMs: 60_000 };
    workers.push(await startLaneWorker(deps, options));
    expect(await handler('twice', new AbortController().signal)).toBeNull();
    expect(turns).toBe(1);
    expect(await scene.outcomes('twice')).toEqual(['answered']);
  });

  it.each<[string, RewakeResult]>([
    ['refuses every wake-up', 'refused'],
    ['keeps wake-ups but delivers them to no worker', 'waiting'],
    ['forgets wake-ups at once', 'stored'],
  ])('[D13] answers messages that its sweep finds while the queue %s', async (_what, wakeUp) => {
    const rewake = async () => wakeUp;
    const options = { bus: scene.bus, concurrency: 2, sweepMs: 1_000 };
    const chats = Array.from({ length: 5 }, (_, nth) => `undelivered-${_what}-${nth}`);
    for (const chat of chats) await scene.write(chat);
    let [running, most] = [0, 0];
    const deps = scene.laneDeps(async (turn, lease) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      await scene.answer(turn, lease);
    });
    workers.push(await startLaneWorker(deps, { ...options, queue: silentQueue(rewake) }));
    const outcomes = async () => (await Promise.all(chats.map(scene.outcomes))).flat();
    await expect.poll(outcomes).toEqual(chats.map(() => 'answered'));
    expect(most).toBe(2);
  });

  it('[D13] tries a queue that refuses wake-ups once per sweep, not once per conversation', async () => {
    const chats = Array.from({ length: 20 }, (_, nth) => `refused-${nth}`);
    for (const chat of chats) await scene.write(chat);
    let asked = 0;
    const queue = silentQueue(async () => {
      asked += 1;
      return 'refused';
    });
    const deps = scene.laneDeps(async (turn, lease) => void (await scene.answer(turn, lease)));
    const options = { queue, bus: scene.bus, concurrency: 20, sweepMs: 60_000 };
    workers.push(await startLaneWorker(deps, options));
    const outcomes = async () => (await Promise.all(chats.map(scene.outcomes))).flat();
    await expect.poll(outcomes).toEqual(chats.map(() => 'answered'));
    expect(asked).toBe(1);
  });

  it('[U12] [G05] refreshes the pages at all gateways if a message waits that turns may not claim', async () => {
    const events: LiveEvent[] = [];
    const unsubscribe = scene.bus.subscribe((event) => events.push(event));
    const { store } = scene;
    const deps = scene.laneDeps(async ({ turnId }, lease) => {
      const call = { callKey: 'k', tool: 'write', shown: '{}', askedBy: 'web:u' };
      const place = {
        place: 'web',
        askedIn: 'asks',
        approvers: [],
        expiresAt: Date.now() + 60_000,
      };
      await store.approvals.ask(
        lease,
        { code: 'ABC234', turnId, ...call, ...place },
        [],
        Date.now(),
      );
    });
    // Without a sweep, each event belongs to one wake-up.
    const options = { queue: scene.turns, bus: scene.bus, concurrency: 2, sweepMs: 60_000 };
    workers.push(await startLaneWorker(deps, options));
    await scene.write('led');
    await store.takeovers.takeOver({ conversationId: 'led', by: 'Ann', lastsMs: 60_000 });
    await scene.turns.wake('led');
    await expect.poll(() => events).toEqual([{ type: 'inbox-changed' }]);
    await scene.write('asks');
    await scene.turns.wake('asks');
    await expect.poll(async () => (await store.approvals.recent(9)).length).toBe(1);
    await expect.poll(() => store.lanes.withWork(9, 10_000)).toEqual([]);
    expect(events).toHaveLength(1);
    await scene.write('asks');
    await scene.turns.wake('asks');
    await expect.poll(() => events.slice(1)).toEqual([{ type: 'inbox-changed' }]);
    unsubscribe();
    await scene.stop('led');
    await scene.stop('asks');
  });

  it('[D02] does not delay a conversation because of another one', async () => {
    const seen: string[] = [];
    let release = (): void => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    await startWorker(async (turn, lease) => {
      if (turn.conversationId === 'slow') await slow;
      seen.push(turn.conversationId);
      await scene.answer(turn, lease);
    }, 'parallel');
    for (const chat of ['slow', 'quick-1', 'quick-2', 'quick-3']) {
      await scene.write(chat);
      await scene.turns.wake(chat);
    }
    await expect.poll(() => seen.length).toBe(3);
    release();
    await expect.poll(() => seen).toContain('slow');
    expect(seen.at(-1)).toBe('slow');
  });

  it("[D01] finds an earlier process's unfinished work at startup", async () => {
    await scene.write('left');
    await startWorker(async (turn, lease) => void (await scene.answer(turn, lease)), 'next');
    await expect.poll(() => scene.outcomes('left')).toEqual(['answered']);
  });

  it('[F09] ends the running turn immediately on /stop and drops waiting messages', async () => {
    let reason: unknown;
    await startWorker(async (_turn, _lease, signal) => {
      await sleep(20_000, undefined, { signal }).catch(() => undefined);
      reason = getStopReason(signal);
    }, 'stopping');
    await scene.write('to-stop');
    await scene.turns.wake('to-stop');
    await expect.poll(async () => (await scene.store.lanes.withWork(9, 10_000)).length).toBe(0);
    await scene.write('to-stop');
    await scene.stop('to-stop');
    await expect.poll(() => reason).toBe('stopped');
    expect(await scene.outcomes('to-stop')).toEqual(['stopped', 'stopped']);
  });
});

describe('a lane worker that is stuck', () => {
  it("[D13] [D04] releases a lane whose lease is lost, even if its turn never ends, and refuses that turn's writes", async () => {
    const stuck = Promise.withResolvers<void>();
    const wrote: boolean[] = [];
    let turns = 0;
    await startWorker(async (turn, lease) => {
      turns += 1;
      if (turns > 1) return void (await scene.answer(turn, lease));
      await scene.loseLease('deaf');
      await stuck.promise;
      wrote.push(await scene.answer(turn, lease));
    }, 'deaf to its signal');
    await scene.write('deaf');
    await scene.turns.wake('deaf');
    await expect
      .poll(() => scene.outcomes('deaf'), { timeout: 20_000, interval: 50 })
      .toEqual(['answered']);
    stuck.resolve();
    await expect.poll(() => wrote).toEqual([false]);
  });

  it('[D13] does not claim messages while it cannot reach the database, and resumes afterwards', async () => {
    let isAway = true;
    const { lanes } = scene.store;
    const reach = async <T>(work: () => Promise<T>): Promise<T> => {
      if (!isAway) return work();
      await sleep(2000);
      throw new ParleyError({
        code: 'store-unreachable',
        message: 'No database.',
        retryable: true,
      });
    };
    const cut: typeof lanes = { ...lanes, begin: (...args) => reach(() => lanes.begin(...args)) };
    const by: string[] = [];
    const answeredBy =
      (name: string): RunTurn =>
      async (turn, lease) => {
        by.push(name);
        await scene.answer(turn, lease);
      };
    const options = { queue: scene.turns, bus: scene.bus, concurrency: 20, sweepMs: 60_000 };
    const deps = scene.laneDeps(answeredBy('cut off'), { owner: 'cut off', lanes: cut });
    workers.push(await startLaneWorker(deps, options));
    const chats = Array.from({ length: 10 }, (_, index) => `kept-${index}`);
    for (const chat of chats) {
      await scene.write(chat);
      await scene.turns.wake(chat);
    }
    await expect.poll(async () => (await scene.turns.depth()).active).toBe(chats.length);
    await startWorker(answeredBy('healthy'), 'healthy');
    const outcomes = async () => (await Promise.all(chats.map(scene.outcomes))).flat();
    await expect.poll(outcomes).toEqual(chats.map(() => 'answered'));
    expect(new Set(by)).toEqual(new Set(['healthy']));
    isAway = false;
    await workers.pop()?.close(1_000);
    await scene.write('later');
    await scene.turns.wake('later');
    await expect
      .poll(() => scene.outcomes('later'), { timeout: 20_000, interval: 50 })
      .toEqual(['answered']);
    expect(by.at(-1)).toBe('cut off');
  });
});

describe('a lane worker that shuts down', () => {
  const answering: RunTurn = async (turn, lease, signal) => {
    await sleep(100, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await scene.answer(turn, lease);
  };
  const busyWorker = async (chat: string): Promise<LaneWorker> => {
    let started = false;
    const worker = await startWorker((...args) => {
      started = true;
      return answering(...args);
    }, `closing ${chat}`);
    await scene.write(chat);
    await scene.turns.wake(chat);
    await expect.poll(() => started, { interval: 2 }).toBe(true);
    return worker;
  };

  it('[D11] finishes a turn that ends within the grace period', async () => {
    await (await busyWorker('graceful')).close(5_000);
    expect(await scene.outcomes('graceful')).toEqual(['answered']);
  });

  it('[D11] hands back a turn that takes longer, and the next worker resumes it', async () => {
    await (await busyWorker('handed')).close(1);
    expect(await scene.outcomes('handed')).toEqual([null]);
    let resumed: boolean | undefined;
    await startWorker(async (turn, lease) => {
      resumed = turn.resumed;
      await scene.answer(turn, lease);
    }, 'successor');
    await expect.poll(() => scene.outcomes('handed')).toEqual(['answered']);
    expect(resumed).toBe(true);
  });
});

/** Creates a queue that does not deliver wake-ups. */
function silentQueue(
  rewake: WakeUpQueue['rewake'],
  onWork: (handler: WakeUpHandler) => void = () => {},
): WakeUpQueue {
  return {
    wake: async () => {},
    rewake,
    async work(handler) {
      onWork(handler);
      return { pause() {}, resume() {}, close: async () => {} };
    },
    depth: async () => ({ waiting: 0, active: 0, delayed: 0 }),
    remember: async (_name, number) => number,
    check: async () => {},
    close: async () => {},
  };
}
