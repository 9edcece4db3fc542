import { setTimeout as sleep } from 'node:timers/promises';
import type { BusyMode } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ClaimedTurn, Lease } from './rows.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createAnswer, createMessage, createPart, createTestRoute } from './testing/messages.ts';

const LEASE_MS = 10;

type Worker = 0 | 1;
type Doing = 'commit' | 'release' | 'join' | 'interrupt';
type Step =
  | { readonly do: 'accept' | 'stop' | 'expire' }
  | { readonly do: Doing; readonly worker: Worker }
  | { readonly do: 'begin' | 'claim'; readonly worker: Worker; readonly mode: BusyMode };

const worker = fc.constantFrom<Worker>(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('accept' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'expire' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom<Doing>('commit', 'commit'), worker }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant<Doing>('release'), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom<Doing>('join', 'join', 'interrupt'), worker }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('begin' as const, 'claim' as const),
      worker,
      mode: fc.constantFrom<BusyMode>('collect', 'followup', 'steer', 'interrupt'),
    }),
  },
);

/** Two workers that act on the state they last read, and the events that happen around them. */
class Scene {
  readonly #store: Store;
  readonly #chatId: string;
  readonly #setTime: (now: number) => void;
  readonly #leases: (Lease | undefined)[] = [];
  readonly #turns: ({ readonly id: string; readonly ids: readonly string[] } | undefined)[] = [];
  #now = 0;
  #messages = 0;
  #turnIds = 0;

  constructor(store: Store, chatId: string, setTime: (now: number) => void) {
    this.#store = store;
    this.#chatId = chatId;
    this.#setTime = setTime;
  }

  async play(next: Step): Promise<void> {
    switch (next.do) {
      case 'accept':
        await this.#store.inbox.accept(this.#newMessage());
        return;
      case 'stop':
        await this.#store.inbox.command(this.#newMessage(), (command) => command.stop());
        return;
      case 'expire':
        this.#now += LEASE_MS;
        return;
      case 'begin':
        return await this.#begin(next.worker, next.mode);
      case 'claim':
        return await this.#claim(next.worker, next.mode);
      case 'commit':
        return await this.#commit(next.worker);
      case 'join':
        return await this.#join(next.worker);
      case 'interrupt':
        return await this.#interrupt(next.worker);
      case 'release': {
        const lease = this.#leases[next.worker];
        if (lease !== undefined) await this.#store.lanes.release(lease);
      }
    }
  }

  #newMessage() {
    this.#messages += 1;
    return createMessage(`m${this.#messages}`, this.#chatId);
  }

  /** Worker 0 does the remaining work, as it would after a sweep. */
  async finish(): Promise<void> {
    this.#now += LEASE_MS;
    await this.#begin(0, 'collect');
    await this.#commit(0);
    while ((await this.#store.lanes.newestWaiting(`web:${this.#chatId}`)) !== null) {
      await this.#claim(0, 'collect');
      await this.#commit(0);
    }
  }

  async #begin(index: Worker, mode: BusyMode): Promise<void> {
    this.#setTime(this.#now);
    this.#turnIds += 1;
    const work = { conversationId: `web:${this.#chatId}`, owner: `w${index}`, leaseMs: LEASE_MS };
    const turnId = `${this.#chatId}-${this.#turnIds}`;
    const got = await this.#store.lanes.begin(work, mode, turnId, this.#now);
    if (got.kind === 'busy') return;
    if (got.kind === 'turn') return this.#note(index, got.lease, got.turn);
    this.#leases[index] = undefined;
    this.#turns[index] = undefined;
  }

  #note(index: Worker, lease: Lease, { turnId: id, messages }: ClaimedTurn): void {
    this.#leases[index] = lease;
    this.#turns[index] = { id, ids: messages.map((row) => row.message.messageId) };
  }

  async #claim(index: Worker, mode: BusyMode): Promise<void> {
    const lease = this.#leases[index];
    if (lease === undefined) return;
    this.#turnIds += 1;
    const got = await this.#store.lanes.claim(
      lease,
      mode,
      `${this.#chatId}-${this.#turnIds}`,
      this.#now,
    );
    if (got.kind === 'turn') this.#note(index, lease, got.turn);
  }

  async #join(index: Worker): Promise<void> {
    const [lease, turn] = [this.#leases[index], this.#turns[index]];
    if (lease === undefined || turn === undefined) return;
    const joining = {
      turnId: turn.id,
      mode: undefined,
      mayJoin: () => true,
      steps: () => [{ index: turn.ids.length, content: 'joined' }],
    };
    const got = await this.#store.lanes.join(lease, joining, this.#now);
    if (got.kind !== 'joined') return;
    const joined = got.rows.map((row) => row.message.messageId);
    this.#turns[index] = { id: turn.id, ids: [...turn.ids, ...joined] };
  }

  async #interrupt(index: Worker): Promise<void> {
    const [lease, turn] = [this.#leases[index], this.#turns[index]];
    if (lease === undefined || turn === undefined) return;
    await this.#store.lanes.interrupt(lease, turn.id, this.#now);
  }

  async #commit(index: Worker): Promise<void> {
    const lease = this.#leases[index];
    const turn = this.#turns[index];
    if (lease === undefined || turn === undefined) return;
    const commit = {
      ...createAnswer(turn.id, turn.ids),
      parts: turn.ids.map((id) => createPart(id, this.#chatId)),
    };
    const leaves = turn.ids.length % 2 === 1;
    const result = await this.#store.lanes.commit(lease, { ...commit, leaves }, this.#now);
    if (result !== 'left') return;
    const waiting = await this.#store.lanes.newestWaiting(`web:${this.#chatId}`);
    if (waiting !== null) throw new Error('the lane was released although a message is waiting');
  }
}

/** The number of consecutive lost turns after which the delay stops growing. */
const MAX_LOST = 10;

/** All answered messages in commit order, for the property to check. */
async function answered(store: Store, chatId: string): Promise<readonly unknown[]> {
  return (await store.transcript.recent(`web:${chatId}`, 0, 1_000)).map((entry) => entry.content);
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`two workers on ${database.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[D02] never answer a message twice or out of order, and settle every message', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
          run += 1;
          const chatId = `c${run}`;
          const scene = new Scene(store, chatId, database.setTime);
          for (const next of steps) await scene.play(next);
          await scene.finish();

          const rows = await store.inbox.recent(createTestRoute(chatId), 999);
          const expected = rows
            .filter((row) => row.outcome === 'answered')
            .map((row) => row.message.messageId);
          expect(await answered(store, chatId)).toEqual(expected);
          expect(rows.filter((row) => row.outcome === null)).toEqual([]);
          const sent = await store.outbox.recent(createTestRoute(chatId), 999);
          expect(sent.map((entry) => entry.part.body.text)).toEqual(expected);
        }),
        toRunOptions(database.name === 'SQLite' ? 100 : 40),
      );
    });

    it('[D02] answer each message once when both work at the same time', async () => {
      const total = 40;
      const accepting = (async () => {
        for (let i = 1; i <= total; i += 1)
          await store.inbox.accept(createMessage(`m${i}`, 'busy'));
      })();
      const work = async (owner: string) => {
        // The lease expires immediately, so each worker can acquire the lane in the middle of the
        // other's turn.
        let lost = 0;
        for (let round = 0; (await answered(store, 'busy')).length < total; round += 1) {
          // Two equally fast workers could keep fencing each other forever. Each time a worker
          // loses its lease, its delay doubles. The second worker waits longer than the first,
          // until one of them has enough time for a turn.
          if (lost > 0) await sleep(2 ** lost * (owner === 'w1' ? 1 : 3));
          const lane = { conversationId: 'web:busy', owner, leaseMs: 0 };
          const got = await store.lanes.begin(lane, 'collect', `${owner}-${round}`, round);
          if (got.kind !== 'turn') continue;
          lost = Math.min(lost + 1, MAX_LOST);
          await sleep((round * (owner === 'w1' ? 3 : 5)) % 7);
          const ids = got.turn.messages.map((row) => row.message.messageId);
          const commit = createAnswer(got.turn.turnId, ids, 'busy');
          if ((await store.lanes.commit(got.lease, commit, round)) !== 'fenced') lost = 0;
        }
      };
      await Promise.all([accepting, work('w1'), work('w2')]);
      const expected = Array.from({ length: total }, (_, i) => `m${i + 1}`);
      expect(await answered(store, 'busy')).toEqual(expected);
    });

    it('[D03] do not leave a message behind that is stored while a commit releases the lane', async () => {
      const lane = { conversationId: 'web:leave', owner: 'w1', leaseMs: LEASE_MS };
      await store.inbox.accept(createMessage('l0', 'leave'));
      for (let round = 1; round <= 60; round += 1) {
        const started = await store.lanes.begin(lane, 'collect', `leave-${round}`, round);
        if (started.kind !== 'turn') throw new Error(`nothing waits before round ${round}`);
        const { lease, turn } = started;
        const commit = { ...createAnswer(turn.turnId, [`l${round - 1}`], 'leave'), leaves: true };
        const accept = () => store.inbox.accept(createMessage(`l${round}`, 'leave'));
        const end = () => store.lanes.commit(lease, commit, round);
        const [ended] =
          round % 2 === 0
            ? await Promise.all([end(), accept()])
            : (await Promise.all([accept(), end()])).toReversed();
        // The process that stored the message wakes the lane: either the lane is free, or its
        // worker checks again.
        expect(await store.lanes.newestWaiting(lane.conversationId)).not.toBeNull();
        const other = { ...lane, owner: 'w2', leaseMs: 0 };
        const begun = await store.lanes.begin(other, 'collect', `other-${round}`, round);
        expect(begun.kind).toBe(ended === 'left' ? 'turn' : 'busy');
        if (ended === 'committed') await store.lanes.release(lease);
      }
    });
  });
}
