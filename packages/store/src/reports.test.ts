import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  startTurn,
} from './testing/messages.ts';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the backlog on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[U03] reports an empty backlog for a new database', async () => {
      expect(await store.backlog.read(5, 10)).toEqual({
        messages: 0,
        conversations: 0,
        turns: 0,
        oldestAt: null,
        waiting: [],
        running: [],
        outgoing: [],
      });
    });

    it('[U03] lists the backlog by conversation, turn and account, oldest first', async () => {
      await store.inbox.accept(createMessage('m1', 'c1', { at: 1 }));
      database.setTime(2);
      await startTurn(store, 't1', 'web:c1', 'worker 1');
      await store.inbox.accept(createMessage('m2', 'c1', { at: 9 }));
      for (const id of ['n1', 'n2']) await store.inbox.accept(createMessage(id, 'c2', { at: 4 }));
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('c', 'c2')], 6);
      const chat = { channel: 'web', account: 'default', chatId: 'c1' };
      await store.outbox.markSending((await store.outbox.next(chat))?.part.id ?? '', 7);
      expect(await store.backlog.read(5, 10)).toEqual({
        messages: 3,
        conversations: 2,
        turns: 1,
        oldestAt: 4,
        waiting: [
          { conversationId: 'web:c2', messages: 2, oldestAt: 4 },
          { conversationId: 'web:c1', messages: 1, oldestAt: 9 },
        ],
        running: [
          {
            turnId: 't1',
            conversationId: 'web:c1',
            startedAt: 0,
            attempts: 1,
            owner: 'worker 1',
            leaseUntil: 1_002,
            isSuspended: false,
          },
        ],
        outgoing: [
          { channel: 'web', account: 'default', pending: 2, sending: 1, chats: 2, oldestAt: 6 },
        ],
      });
      expect((await store.backlog.read(1, 10)).waiting).toHaveLength(1);
    });

    it('[U03] [U12] ignores conversations that a person has taken over or in which a person has to decide', async () => {
      const oldestAt = async (now: number) => (await store.backlog.read(5, now)).oldestAt;
      await store.inbox.accept(createMessage('m1', 'c1', { at: 1 }));
      await store.inbox.accept(createMessage('m2', 'c2', { at: 2 }));
      await store.inbox.accept(createMessage('m3', 'c3', { at: 3 }));
      expect(await oldestAt(10)).toBe(1);
      await store.takeovers.takeOver({ conversationId: 'web:c1', by: 'Ann', lastsMs: 1_000 });
      expect(await oldestAt(10)).toBe(2);
      const { lease } = await startTurn(store, 't2', 'web:c2');
      const question = {
        ...{ code: 'ABC234', turnId: 't2', callKey: 't2.0.0', tool: 'write', shown: '{}' },
        ...{ askedBy: 'web:u1', place: 'c2', askedIn: 'web:c2', approvers: ['web:u1'] },
        expiresAt: 9_000,
      };
      expect(await store.approvals.ask(lease, question, [], 4)).toBe('asked');
      await store.inbox.accept(createMessage('m4', 'c2', { at: 2 }));
      expect(await oldestAt(10)).toBe(3);
      // The takeover has expired by this time.
      expect(await oldestAt(1_000)).toBe(1);
    });
  });
}

const call = (name: string, path: string) => ({
  id: 'c',
  name,
  arguments: JSON.stringify({ path }),
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the audit on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    /** Runs a turn that calls `write` twice, of which the second call fails, and `read` once. */
    const turnThatWrites = async () => {
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      const calls = [call('write', 'AGENTS.md'), call('write', 'x.md'), call('read', 'y.md')];
      const steps = [
        { kind: 'model', text: '', calls },
        { kind: 'result', call: 't1.0.0', text: '', failed: false },
        { kind: 'result', call: 't1.0.1', text: '', failed: true },
        { kind: 'result', call: 't1.0.2', text: '', failed: false },
      ];
      for (const [index, content] of steps.entries()) {
        await store.turns.appendStep(lease, 't1', { index, content }, 5);
      }
      return lease;
    };

    it('[U05] shows which files an agent wrote, in which conversation, and who approved each write', async () => {
      const lease = await turnThatWrites();
      const approval = { code: 'A', turnId: 't1', callKey: 't1.0.0', tool: 'write', shown: '' };
      const who = { askedBy: 'web:u1', askedIn: 'web:c9', place: 'web', approvers: [] };
      const asked = { ...approval, ...who, expiresAt: 99 };
      await store.approvals.ask(lease, asked, [createPart('May I?')], 1);
      await store.inbox.command(createMessage('k1', 'c9', { at: 2 }), (command) =>
        command.decideApproval({ code: 'A', verdict: 'approved', by: 'web:u2' }),
      );
      await store.lanes.commit(lease, createAnswer('t1', ['done']), 10);
      expect(await store.audit.writes(['write', 'edit'], 0)).toEqual([
        {
          tool: 'write',
          input: '{"path":"AGENTS.md"}',
          conversationId: 'web:c1',
          at: 5,
          approvedBy: 'web:u2',
        },
      ]);
      expect(await store.audit.writes(['write'], 11)).toEqual([]);
    });

    it('[U05] shows who was allowed or linked, and when they last used the model', async () => {
      const stranger = {
        ...createTestRoute('a'),
        senderId: 'a',
        senderName: 'Eve',
        route: createTestRoute('a'),
      };
      await store.pairing.request(stranger, 'C1', [], 0);
      await store.pairing.approve('C1', () => [], 7);
      const usage = { inputTokens: 1, outputTokens: 1, costUsd: null };
      for (const day of ['2026-11-02', '2026-11-20']) {
        await store.spend.add({ day, personId: 'web:a', groupId: null }, usage);
      }
      const known = { personId: 'web:a', since: 7, lastDay: '2026-11-20' };
      expect(await store.audit.allowedPeople()).toEqual([known]);
      expect(await store.audit.linked()).toEqual([]);
      const link = (personId: string, kind: 'make' | 'type') => {
        const asker = { personId, isOwner: false };
        const admitted = createMessage(`${kind}1`, 'c9', { at: 3 });
        return store.inbox.command(admitted, (command) => command.link(asker, { kind, code: 'L' }));
      };
      await link('web:a', 'make');
      await link('telegram:1', 'type');
      expect(await store.audit.linked()).toEqual([
        { personId: 'telegram:1', since: 3, lastDay: null },
        { personId: 'web:a', since: 3, lastDay: '2026-11-20' },
      ]);
    });
  });
}
