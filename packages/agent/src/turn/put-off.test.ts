import { silentRuntime } from '@parley/core/testing';
import type { ModelFailure } from '@parley/models';
import { openTurnQueue, startLaneWorker } from '@parley/queue';
import type { ClaimedTurn, Lease } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE, runAsCommand } from '../testing/write-message.ts';
import { computeRetryDelay } from './put-off.ts';

const WAIT_MS = 10 * 60_000;
const AWAY = { fail: { kind: 'unreachable' } } as const;
const KEPT =
  '⚙️ test/model at secret-host failed. I’ll keep your question and answer it when the model is back, within 10 minutes. /stop cancels it.';

describe('[D13] a question whose model is unavailable', () => {
  let scene: TurnScene;
  let made = 0;
  const open = async (extras: SceneOptions = {}) => {
    scene = await openTurnScene({}, { modelAwayMs: WAIT_MS, ...extras });
  };
  beforeEach(() => open());
  afterEach(() => scene.close());

  /** Runs the next turn and releases the lane, like a worker. Returns null if no turn is due. */
  async function work(): Promise<string | null> {
    const { lanes, now } = lanesOf();
    const work = { conversationId: OWNER_CHAT, owner: 'worker', leaseMs: 10_000 };
    made += 1;
    const begun = await lanes.begin(work, 'collect', `turn-${made}`, now());
    if (begun.kind !== 'turn') return null;
    await scene.run(begun);
    await lanes.release(begun.lease);
    return begun.turn.turnId;
  }

  const lanesOf = () => ({ lanes: scene.store.lanes, now: scene.now });
  const isDue = async () =>
    (await scene.store.lanes.withWork(scene.now(), 10)).includes(OWNER_CHAT);

  async function why(messageId: string) {
    const found = await scene.store.why.ask({ message: messageId }, scene.now());
    if (found.kind !== 'found') throw new Error('the message is not known');
    return found.timeline;
  }

  it('is kept, reported once, and answered by the same turn when the model is available again', async () => {
    await scene.write('How are you?');
    scene.model.next(AWAY, AWAY, AWAY);
    const turn = await work();
    for (let tries = 0; tries < 2; tries += 1) {
      expect(scene.outcome()).toBe('put-off');
      expect(await isDue()).toBe(false);
      expect(await work()).toBeNull();
      scene.later(30_001);
      expect(await isDue()).toBe(true);
      expect(await work()).toBe(turn);
    }
    scene.later(30_001);
    expect(await work()).toBe(turn);
    expect(scene.outcome()).toBe('answered');
    expect(await scene.owed()).toEqual([KEPT, 'fine']);
  });

  it('is answered together with the person’s next message, without waiting', async () => {
    await scene.write('How are you?');
    scene.model.next(AWAY, AWAY);
    const first = await work();
    await scene.write('And your mother?');
    const second = await work();
    expect(second).not.toBe(first);
    expect(scene.outcome()).toBe('put-off');
    scene.later(30_001);
    expect(await work()).toBe(second);
    expect(await scene.owed()).toEqual([KEPT, 'fine']);
    const asked = JSON.stringify(scene.model.asked.at(-1)?.messages);
    expect(asked).toContain('How are you?');
    expect(asked).toContain('And your mother?');
  });

  it('fails after the time in the settings, regardless of the number of retries', async () => {
    await scene.write('How are you?');
    scene.model.next(...Array<typeof AWAY>(100).fill(AWAY));
    let asked = 0;
    for (; scene.outcome() !== 'failed'; asked += 1) {
      expect(await work()).not.toBeNull();
      scene.later(30_001);
    }
    expect(asked).toBeGreaterThan(15);
    expect(asked).toBeLessThan(25);
    const owed = await scene.owed();
    expect(owed).toHaveLength(2);
    expect(owed[1]).toContain('test/model at secret-host failed');
    expect(await work()).toBeNull();
  });

  it('is kept, and a reader who is not an owner gets a notice that does not name a server', async () => {
    const sender = { id: '7', name: 'Eve', isBot: false };
    await scene.write('How are you?', { sender, chat: { id: OWNER_CHAT, type: 'group' } });
    scene.model.next(AWAY);
    await work();
    const [notice] = await scene.owed();
    expect(notice).toMatch(/^⚙️ My model is not answering right now\. I’ll keep your question/);
  });

  it('blocks neither its lane nor its worker while it waits', async () => {
    const turns = await openTurnQueue({ url: 'memory:', log: silentRuntime.log });
    const deps = {
      ...{ lanes: scene.store.lanes, clock: scene.now, log: silentRuntime.log },
      monotonic: silentRuntime.monotonic,
      ...{ newId: silentRuntime.newId, owner: 'worker', collectPauseMs: 0 },
      busy: 'collect',
      runTurn: (turn: ClaimedTurn, lease: Lease) => scene.run({ turn, lease }),
    } as const;
    await scene.write('How are you?');
    await scene.write('Are you there?', { chat: { id: 'other', type: 'direct' } });
    scene.model.next(AWAY);
    const { bus } = scene;
    const worker = await startLaneWorker(deps, { queue: turns, bus, concurrency: 1, sweepMs: 20 });
    await turns.wake(OWNER_CHAT);
    await expect.poll(() => scene.owed()).toEqual([KEPT]);
    await expect.poll(() => scene.owed('other')).toEqual(['fine']);
    expect(scene.model.asked).toHaveLength(2);
    // The sweep finds the question when its next attempt is due.
    scene.later(5_001);
    await expect.poll(() => scene.owed()).toEqual([KEPT, 'fine']);
    await worker.close(1_000);
    await turns.close();
  });

  it('is dropped by /stop', async () => {
    await scene.write('How are you?');
    scene.model.next(AWAY);
    await work();
    await runAsCommand(scene.store, (one) => one.stop());
    scene.later(WAIT_MS);
    expect(await isDue()).toBe(false);
    expect(await work()).toBeNull();
    expect(scene.model.asked).toHaveLength(1);
  });

  it('is kept across a restart, and not retried early', async () => {
    await scene.write('How are you?');
    scene.model.next(AWAY);
    const turn = await work();
    await scene.store.lanes.releaseAll();
    expect(await isDue()).toBe(false);
    scene.later(5_001);
    expect(await isDue()).toBe(true);
    expect(await work()).toBe(turn);
    expect(scene.outcome()).toBe('answered');
  });

  it('is retried immediately if the clock was set back further than the maximum delay', async () => {
    await scene.write('How are you?');
    scene.model.next(AWAY);
    await work();
    scene.later(-2 * 3_600_000);
    expect(await isDue()).toBe(true);
  });

  it('does not repeat completed tool calls, even if the person has written again', async () => {
    await scene.close();
    const parrot = createCountingTool('parrot', 'external');
    await open({ tools: [parrot.tool] });
    await scene.write('Say it');
    scene.model.next({ calls: [say('parrot', 'a')] }, AWAY);
    const turn = await work();
    await scene.write('Well?');
    expect(await work()).toBeNull();
    scene.later(5_001);
    expect(await work()).toBe(turn);
    expect(await work()).not.toBeNull();
    expect(parrot.calls).toHaveLength(1);
    expect(await scene.owed()).toEqual([KEPT, 'fine', 'fine']);
  });

  it('is retried at the time that the provider states', async () => {
    await scene.write('How are you?');
    scene.model.next({ fail: { kind: 'rate-limited', retryAfterMs: 120_000 } });
    await work();
    scene.later(119_999);
    expect(await isDue()).toBe(false);
    scene.later(2);
    expect(await isDue()).toBe(true);
  });

  it('has its delay explained by `why`', async () => {
    await scene.write('How are you?');
    const [asked] = await scene.store.inbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 1);
    const messageId = asked?.message.messageId ?? '';
    scene.model.next(AWAY);
    await work();
    const waiting = await why(messageId);
    expect(waiting.verdict).toBe('No answer yet: its model is unavailable; next attempt in 5.0 s.');
    expect(JSON.stringify(waiting.entries)).toContain('secret-host failed');
    scene.later(5_001);
    await work();
    const texts = (await why(messageId)).entries.map(({ text }) => text);
    expect(texts).toContain('its model was unavailable; the question was kept');
  });

  it('fails immediately if a program waits for the answer, because the program can retry by itself', async () => {
    await scene.write('How are you?', { appends: true });
    scene.model.next(AWAY);
    await work();
    expect(scene.outcome()).toBe('failed');
  });

  it('is charged for what the model wrote before the stream broke off, so that caps hold', async () => {
    await scene.write('How are you?');
    scene.model.next({ say: 'I am', breaks: { kind: 'broken-off' } });
    await work();
    const person = { day: '2026-11-21', personId: 'test:1', groupId: null };
    expect((await scene.store.spend.of(person)).person.tokens).toBeGreaterThan(0);
  });
});

describe('[D13] the delay before a model is called again', () => {
  const rate = (retryAfterMs: number | null): ModelFailure => ({
    kind: 'rate-limited',
    retryAfterMs,
  });
  it.each<readonly [ModelFailure, awayMs: number, pause: number | null]>([
    [{ kind: 'unreachable' }, 0, 5_000],
    [{ kind: 'unreachable' }, 20_000, 10_000],
    [{ kind: 'overloaded' }, 300_000, 30_000],
    [{ kind: 'broken-off' }, -9_000, 5_000],
    [{ kind: 'timeout', phase: 'first-token' }, 60_000, 30_000],
    [{ kind: 'timeout', phase: 'stalled' }, 60_000, 30_000],
    [{ kind: 'timeout', phase: 'total' }, 0, null],
    [rate(null), 0, 5_000],
    [rate(60_000), 0, 60_000],
    [rate(60_000), 550_000, null],
    [rate(WAIT_MS + 1), 0, null],
    [{ kind: 'unreachable' }, WAIT_MS, null],
    [{ kind: 'unauthorised' }, 0, null],
    [{ kind: 'no-credit' }, 0, null],
    [{ kind: 'too-long' }, 0, null],
    [{ kind: 'refused' }, 0, null],
    [{ kind: 'filtered' }, 0, null],
    [{ kind: 'endless' }, 0, null],
    [{ kind: 'empty' }, 0, null],
  ])('for the failure %j after %i ms is %j ms', (failure, awayMs, pause) => {
    expect(computeRetryDelay({ failure, awayMs, waitMs: WAIT_MS })).toBe(pause);
  });

  it('is null if questions are not kept', () => {
    expect(
      computeRetryDelay({ failure: { kind: 'unreachable' }, awayMs: 0, waitMs: 0 }),
    ).toBeNull();
  });
});
