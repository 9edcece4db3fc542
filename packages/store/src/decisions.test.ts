import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { UnacceptedMessageRecord } from './decisions.ts';
import type { Store } from './store.ts';
import { createSqliteForTests, listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' } as const;

const decision = (messageId: string, at: number, chatId = 'c1'): UnacceptedMessageRecord => ({
  ...CHAT,
  chatId,
  messageId,
  senderId: 'u2',
  outcome: 'refused',
  reason: `no: ${messageId}`,
  at,
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`what happened to messages, on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[D08] lists decisions, inbox, turns and outbox together, oldest first', async () => {
      await store.decisions.record(decision('r1', 1));
      await store.decisions.record(decision('r1', 9));
      await store.decisions.record(decision('other', 1, 'c2'));
      await store.inbox.accept({ ...createMessage('m2', 'c1', { at: 2 }), reason: 'an owner' });
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['a', 'b']), 5);
      const part = await store.outbox.next(CHAT);
      await store.outbox.markSending(part?.part.id ?? '', 6);
      await store.outbox.markSent(part?.part.id ?? '', 'p', 7);
      const at = (n: number) => createMessage(`m${n}`, 'c1', { at: n });
      await store.inbox.command(at(3), async () => null);
      await store.inbox.accept(at(4));
      await store.inbox.command(at(5), (command) => command.stop());
      await store.inbox.accept(at(6));
      const none = { reason: null, turn: null };
      expect(await store.decisions.stories(CHAT, 9)).toEqual([
        { messageId: 'r1', at: 1, outcome: 'refused', reason: 'no: r1', turn: null },
        {
          messageId: 'm2',
          at: 2,
          outcome: 'turn',
          reason: 'an owner',
          turn: {
            startedAt: 0,
            finishedAt: 5,
            outcome: 'answered',
            reason: null,
            attempts: 1,
            parts: { sent: 1, waiting: 1, unknown: 0, failed: 0 },
          },
        },
        { messageId: 'm3', at: 3, outcome: 'command', ...none },
        { messageId: 'm4', at: 4, outcome: 'set-aside', ...none },
        { messageId: 'm5', at: 5, outcome: 'command', ...none },
        { messageId: 'm6', at: 6, outcome: 'waiting', ...none },
      ]);
      const newest = await store.decisions.stories(CHAT, 2);
      expect(newest.map(({ messageId }) => messageId)).toEqual(['m5', 'm6']);
    });
  });
}

describe('ingress decisions', () => {
  const database = createSqliteForTests();
  afterAll(() => database.dispose());

  it('[D07] [D08] keeps decisions for the newest 20,000 messages of a chat, even when another chat is flooded', async () => {
    const store = await database.openEmpty();
    const other = { ...CHAT, chatId: 'quiet' };
    await store.decisions.record({ ...decision('q', 0), ...other });
    for (let from = 0; from < 21_000; from += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, n) => decision(`r${from + n}`, from + n));
      await Promise.all(some.map((each) => store.decisions.record(each)));
    }
    const kept = await store.decisions.stories(CHAT, 30_000);
    // A chat is trimmed only occasionally, so it may have a few more rows.
    expect(kept.length).toBeGreaterThanOrEqual(20_000);
    expect(kept.length).toBeLessThanOrEqual(20_500);
    expect(kept.at(-1)?.messageId).toBe('r20999');
    expect(await store.decisions.stories(other, 9)).toHaveLength(1);
  });
});
