import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { OutboxRepository } from './outbox.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createPart } from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const NAME = 'account:web/default';

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`sending under a lease on ${database.name}`, () => {
    let store: Store;
    let old: OutboxRepository;
    beforeEach(async () => {
      store = await database.openEmpty();
      old = await holder('old', 0);
      await store.outbox.enqueue([createPart('a'), createPart('b')], 0);
    });
    afterAll(() => database.dispose());

    async function holder(owner: string, now: number): Promise<OutboxRepository> {
      database.setTime(now);
      const result = await store.leases.acquire(NAME, owner, 100);
      if (result.kind === 'busy') throw new Error(`held by ${result.owner}`);
      return store.outbox.under(result.lease);
    }
    const first = async () => {
      const next = await store.outbox.next(CHAT);
      if (next === null) throw new Error('nothing is left');
      return { id: next.part.id, state: next.state };
    };

    it('[D09] marks parts as sending while the lease is held', async () => {
      const { id } = await first();
      expect(await old.markSending(id, 1)).toBe(true);
      expect(await old.markSending(id, 1)).toBe(false);
      await old.markSent(id, 'p', 2);
      expect((await first()).state).toBe('pending');
    });

    it('[D16] marks the next part as sending in the transaction that records a receipt', async () => {
      const [one, two] = await store.outbox.unfinished(CHAT, 9);
      const [a, b] = [one?.part.id ?? '', two?.part.id ?? ''];
      await old.markSending(a, 1);
      expect(await old.markSent(a, 'p', 2, b)).toBe(true);
      expect(await store.outbox.unfinished(CHAT, 9)).toMatchObject([
        { part: { id: b }, state: 'sending', sendingAt: 2 },
      ]);
      expect(await old.markSent(b, 'q', 3, a)).toBe(false);
      expect(await store.outbox.next(CHAT)).toBeNull();
    });

    it('[D09] records a receipt after the lease is lost, and leaves the next part to the new holder', async () => {
      const [one, two] = await store.outbox.unfinished(CHAT, 9);
      await old.markSending(one?.part.id ?? '', 1);
      await holder('new', 100);
      expect(await old.markSent(one?.part.id ?? '', 'p', 101, two?.part.id)).toBe(false);
      expect(await store.outbox.recent(CHAT, 9)).toMatchObject([
        { state: 'sent' },
        { state: 'pending' },
      ]);
    });

    it('[D09] does not start a delivery once another process has the lease', async () => {
      const { id } = await first();
      await holder('new', 100);
      await expect(old.markSending(id, 101)).rejects.toMatchObject({ code: 'store-fenced' });
      expect(await first()).toEqual({ id, state: 'pending' });
    });

    it('[D09] rejects reports about a part that the next lease holder took over', async () => {
      const { id } = await first();
      await old.markSending(id, 1);
      const next = await holder('new', 100);
      expect(await next.takeOver(id)).toBe(true);
      const refused = { code: 'store-part-state' };
      await expect(old.markSent(id, 'p', 101)).rejects.toMatchObject(refused);
      await expect(old.retryLater(id, { now: 0, afterMs: 0 }, 'x', 'free')).rejects.toMatchObject(
        refused,
      );
      await expect(
        old.markFailed(id, 'unknown', 'x', 101, createPart('notice')),
      ).rejects.toMatchObject(refused);
      await expect(old.takeOver(id)).rejects.toMatchObject({ code: 'store-fenced' });
      await next.markFailed(id, 'unknown', 'x', 102, null);
      expect(await store.outbox.recent(CHAT, 9)).toMatchObject([{ state: 'unknown' }, {}]);
    });

    it('[D09] reports a part that no process is sending differently from a lost lease', async () => {
      const { id } = await first();
      expect(await old.takeOver(id)).toBe(false);
      expect(await old.markSending('part_unknown', 1)).toBe(false);
    });

    it('[D04] adds one notice when giving up a part is reported twice', async () => {
      const { id } = await first();
      await old.markSending(id, 1);
      await old.markFailed(id, 'failed', 'x', 2, createPart('notice'));
      await old.markFailed(id, 'failed', 'x', 2, createPart('notice'));
      const texts = (await store.outbox.recent(CHAT, 9)).map((entry) => entry.part.body.text);
      expect(texts).toEqual(['a', 'b', 'notice']);
    });
  });
}
