import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import type { SummaryTask } from './sessions.ts';
import { bothDatabases } from './testing/databases.ts';
import { answer, claim, hold, message } from './testing/messages.ts';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`summaries on ${database.name}`, () => {
    let store: Store;
    const place = { conversationId: 'web:c1', session: 0, reader: 'owner' };
    const task: SummaryTask = { ...place, kind: 'history', mark: '0' };
    const claimed = { by: 'one', now: 0, until: 10, impatient: false };
    const content = { facts: ['a'] };
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(message('1'));
    });
    afterAll(() => database.dispose());

    it('[G11] are written once, by one of two who come at the same moment', async () => {
      const both = ['one', 'two'].map((by) => store.summaries.claim(task, { ...claimed, by }));
      expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
    });

    it('[G11] are taken over when a claim has run out, and the first claimant stores nothing then', async () => {
      await store.summaries.claim(task, claimed);
      expect(await store.summaries.latest(place)).toBeNull();
      const later = { ...claimed, by: 'two', now: 10, until: 20 };
      expect(await store.summaries.claim(task, { ...later, now: 9 })).toBe(false);
      expect(await store.summaries.claim(task, later)).toBe(true);
      expect(await store.summaries.finish(task, 'one', { content, reaches: 4 })).toBe(false);
      expect(await store.summaries.finish(task, 'two', { content, reaches: 5 })).toBe(true);
      expect(await store.summaries.latest(place)).toEqual({ content, reaches: 5 });
      expect(await store.summaries.claim(task, { ...later, now: 99, impatient: true })).toBe(false);
    });

    it('[G11] that failed are tried again later, or at once by somebody impatient', async () => {
      await store.summaries.claim(task, claimed);
      const impatient = { ...claimed, by: 'two', impatient: true };
      expect(await store.summaries.claim(task, impatient)).toBe(false);
      await store.summaries.postpone(task, 'one', 100);
      expect(await store.summaries.claim(task, { ...claimed, now: 99 })).toBe(false);
      expect(await store.summaries.claim(task, impatient)).toBe(true);
    });

    it('[G11] [G16] are free again when nobody else is at work', async () => {
      await store.summaries.claim(task, claimed);
      await store.summaries.releaseAll();
      const later = { ...claimed, by: 'two', now: 1 };
      expect(await store.summaries.claim(task, later)).toBe(true);
      expect(await store.summaries.finish(task, 'one', { content, reaches: 4 })).toBe(false);
      await store.summaries.finish(task, 'two', { content, reaches: 5 });
      await store.summaries.releaseAll();
      expect(await store.summaries.claim(task, { ...later, now: 99 })).toBe(false);
    });

    it('[G11] [W02] belong to one kind of reader, session, conversation and day', async () => {
      const write = async (one: SummaryTask, reaches: number) => {
        await store.summaries.claim(one, claimed);
        await store.summaries.finish(one, 'one', { content, reaches });
      };
      await write({ ...task, mark: '5' }, 9);
      await write(task, 5);
      await write({ ...task, kind: 'day', mark: '2026-11-20' }, 50);
      expect(await store.summaries.latest(place)).toMatchObject({ reaches: 9 });
      expect(await store.summaries.latest({ ...place, reader: 'guest' })).toBeNull();
      expect(await store.summaries.latest({ ...place, session: 1 })).toBeNull();
      expect(await store.summaries.ofDay(place, '2026-11-20')).toMatchObject({ reaches: 50 });
      expect(await store.summaries.ofDay(place, '2026-11-21')).toBeNull();
    });

    it('[G11] are made from a history that can be read from either end, and by time', async () => {
      const lease = await hold(store);
      await claim(store, lease, 't1');
      await store.lanes.commit(lease, answer('t1', ['a', 'b', 'c']), 7);
      const words = (entries: readonly { readonly content: unknown }[]) =>
        entries.map((entry) => entry.content);
      const all = await store.transcript.oldestAfter(place, 0, 9);
      expect(words(all)).toEqual(['a', 'b', 'c']);
      const first = all[0]?.seq ?? 0;
      expect(words(await store.transcript.oldestAfter(place, first, 1))).toEqual(['b']);
      expect(words(await store.transcript.newestAfter(place, first, 1))).toEqual(['c']);
      expect(words(await store.transcript.newestAfter(place, first, 9))).toEqual(['b', 'c']);
      expect(words(await store.transcript.saidBetween(place, 7, 8, 2))).toEqual(['b', 'c']);
      expect(await store.transcript.saidBetween(place, 0, 7, 9)).toEqual([]);
      const behind = await store.transcript.messagesBehind(place, first, first);
      expect(behind.map((row) => row.message.messageId)).toEqual(['1']);
      expect(await store.transcript.messagesBehind(place, first + 3, first + 9)).toEqual([]);
    });
  });
}
