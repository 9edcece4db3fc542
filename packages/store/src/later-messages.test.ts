import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { JoinRules } from './later-messages.ts';
import type { InboxRow, Lease } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' } as const;

function joining(index: number, mayJoin: (row: InboxRow) => boolean = () => true): JoinRules {
  return {
    turnId: 't1',
    mode: 'agent',
    mayJoin,
    steps: (rows) => [{ index, content: { joined: rows.map(({ seq }) => seq) } }],
  };
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a running turn on ${database.name}`, () => {
    let store: Store;
    let lease: Lease;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('m1'));
      ({ lease } = await startTurn(store, 't1'));
    });
    afterAll(() => database.dispose());

    const outcomes = async () => {
      const rows = await store.inbox.recent(CHAT, 20);
      return rows.map(({ message: { messageId }, outcome }) => `${messageId} ${outcome}`);
    };
    const resumed = async (owner = 'w2') => {
      database.setTime(2_000);
      return startTurn(store, 't9', 'web:c1', owner);
    };

    describe('joined by later messages', () => {
      it('[D03] contains the joined messages and records their position in its journal, even when it is resumed', async () => {
        await store.turns.appendStep(lease, 't1', { index: 0, content: 'asked' }, 1);
        for (const id of ['m2', 'm3']) await store.inbox.accept(createMessage(id));
        const joined = await store.lanes.join(lease, joining(1), 5);
        expect(joined).toMatchObject({ kind: 'joined', rows: [{ seq: 2 }, { seq: 3 }] });
        const { turn } = await resumed();
        expect(listMessageIds(turn)).toEqual(['m1', 'm2', 'm3']);
        expect(turn.steps.map(({ content }) => content)).toEqual(['asked', { joined: [2, 3] }]);
      });

      it('[D04] ends all joined messages with one commit', async () => {
        await store.inbox.accept(createMessage('m2'));
        await store.lanes.join(lease, joining(0), 5);
        await store.lanes.commit(lease, createAnswer('t1', ['both']), 6);
        expect(await outcomes()).toEqual(['m1 answered', 'm2 answered']);
      });

      it('[D02] stops at the first message that may not join, so that the order is preserved', async () => {
        for (const id of ['m2', 'm3', 'm4']) await store.inbox.accept(createMessage(id));
        const but = ({ message: { messageId } }: InboxRow) => messageId !== 'm3';
        expect(await store.lanes.join(lease, joining(0, but), 5)).toMatchObject({
          rows: [{ message: { messageId: 'm2' } }],
        });
        expect(await store.lanes.join(lease, joining(1, but), 5)).toEqual({ kind: 'none' });
        await store.lanes.commit(lease, createAnswer('t1', ['a']), 6);
        expect(listMessageIds(await claimNextTurn(store, lease, 't2'))).toEqual(['m3', 'm4']);
      });

      it('[D02] refuses later messages once the lease is lost, and does not change anything', async () => {
        await store.inbox.accept(createMessage('m2'));
        const next = await resumed();
        expect(await store.lanes.join(lease, joining(0), 5)).toEqual({ kind: 'fenced' });
        expect(listMessageIds(next.turn)).toEqual(['m1']);
        expect(next.turn.steps).toEqual([]);
        await store.lanes.commit(next.lease, createAnswer('t1', ['one']), 6);
        expect(await outcomes()).toEqual(['m1 answered', 'm2 null']);
      });

      it('[F09] refuses later messages once the turn was stopped', async () => {
        await store.inbox.accept(createMessage('m2'));
        await store.inbox.command(createMessage('stop'), (command) => command.stop());
        expect(await store.lanes.join(lease, joining(0), 5)).toEqual({ kind: 'fenced' });
      });

      it('[D03] does not accept messages written after /new or /mode', async () => {
        await store.inbox.command(createMessage('new'), (command) => command.startSession());
        await store.inbox.accept(createMessage('m2'));
        expect(await store.lanes.join(lease, joining(0), 5)).toEqual({ kind: 'none' });
        const asked = { ...joining(0), mode: 'ask' as const };
        expect(await store.lanes.join(lease, asked, 5)).toEqual({ kind: 'none' });
      });

      it('[F10] does not accept messages whose files are still being fetched', async () => {
        const { message: one, ...rest } = createMessage('m2');
        const attachments = [{ kind: 'image' as const, ref: 'r' }];
        await store.inbox.accept({ ...rest, message: { ...one, attachments } });
        expect(await store.lanes.join(lease, joining(0), 5)).toEqual({ kind: 'none' });
      });

      it('[D02] accepts each message once when two requests arrive at the same time', async () => {
        for (const id of ['m2', 'm3']) await store.inbox.accept(createMessage(id));
        const both = await Promise.all([0, 1].map((at) => store.lanes.join(lease, joining(at), 5)));
        expect(both.map(({ kind }) => kind).sort()).toEqual(['joined', 'none']);
      });
    });

    describe('interrupted by a later message', () => {
      const interrupt = () => store.lanes.interrupt(lease, 't1', 5);

      it('[D03] returns all messages to the queue in order, and cannot store anything more', async () => {
        await store.inbox.accept(createMessage('m2'));
        expect(await interrupt()).toEqual({ kind: 'interrupted' });
        const step = { index: 0, content: 'late' };
        expect(await store.turns.appendStep(lease, 't1', step, 6)).toBe('fenced');
        expect(await store.lanes.commit(lease, createAnswer('t1', ['late']), 6)).toBe('fenced');
        expect(await store.lanes.join(lease, joining(0), 6)).toEqual({ kind: 'fenced' });
        const turn = await claimNextTurn(store, lease, 't2');
        expect([listMessageIds(turn), turn.resumed, turn.steps]).toEqual([['m1', 'm2'], false, []]);
      });

      it('[D02] keeps its lane, so that another worker cannot acquire it in between', async () => {
        await store.inbox.accept(createMessage('m2'));
        await interrupt();
        const other = { conversationId: 'web:c1', owner: 'w2', leaseMs: 1_000 };
        expect(await store.lanes.begin(other, 'collect', 't2', 10)).toMatchObject({ kind: 'busy' });
      });

      it('[D03] continues if no message is waiting, if the answer goes elsewhere, and after /new', async () => {
        expect(await interrupt()).toEqual({ kind: 'goes-on' });
        await store.inbox.accept(createMessage('m2', 'c1', { threadId: '7' }));
        expect(await interrupt()).toEqual({ kind: 'goes-on' });
        await store.inbox.command(createMessage('new'), (command) => command.startSession());
        expect(await interrupt()).toEqual({ kind: 'goes-on' });
      });

      it('[D03] continues if only Parley itself has added a message', async () => {
        const { message: one, ...rest } = createMessage('m2');
        await store.inbox.accept({ ...rest, message: { ...one, trigger: 'sub-agent' } });
        expect(await interrupt()).toEqual({ kind: 'goes-on' });
      });

      it('[F08] reports when to check again while a burst may be incomplete', async () => {
        await store.inbox.accept({ ...createMessage('m2'), settlesAt: 1_005 });
        expect(await interrupt()).toEqual({ kind: 'later', retryInMs: 1_000 });
      });

      it('[D03] continues after its messages were interrupted three times', async () => {
        for (let nth = 1; nth <= 3; nth += 1) {
          await store.inbox.accept(createMessage(`later-${nth}`));
          expect(await store.lanes.interrupt(lease, `t${nth}`, 5)).toEqual({ kind: 'interrupted' });
          await claimNextTurn(store, lease, `t${nth + 1}`);
        }
        await store.inbox.accept(createMessage('later-4'));
        expect(await store.lanes.interrupt(lease, 't4', 5)).toEqual({ kind: 'goes-on' });
        await store.lanes.commit(lease, createAnswer('t4', ['all']), 6);
        const [first] = await store.decisions.stories(CHAT, 9);
        expect(first).toMatchObject({ interruptions: 3, turn: { outcome: 'answered' } });
      });

      it('[D02] does not change once the lease is lost or the turn is over', async () => {
        await store.inbox.accept(createMessage('m2'));
        const next = await resumed();
        expect(await interrupt()).toEqual({ kind: 'fenced' });
        await store.lanes.commit(next.lease, createAnswer('t1', ['one']), 6);
        expect(await store.lanes.interrupt(next.lease, 't1', 7)).toEqual({ kind: 'fenced' });
        expect(await outcomes()).toEqual(['m1 answered', 'm2 null']);
      });

      it('[D03] is either interrupted or committed when both are requested simultaneously', async () => {
        await store.inbox.accept(createMessage('m2'));
        const [ended, committed] = await Promise.all([
          interrupt(),
          store.lanes.commit(lease, createAnswer('t1', ['one']), 6),
        ]);
        expect([ended.kind, committed]).toEqual(
          committed === 'committed' ? ['fenced', 'committed'] : ['interrupted', 'fenced'],
        );
      });

      it('[F06] releases its group context', async () => {
        const place = { ...CHAT, conversationId: 'web:c1' };
        const heard = { messageId: 'h', senderId: 'u', senderName: 'U', text: 'psst' };
        await store.lanes.commit(lease, createAnswer('t1', ['one']), 6);
        await store.groupContext.keep(place, heard, 1);
        await store.inbox.accept(createMessage('m2', 'c1', { type: 'group' }));
        expect((await claimNextTurn(store, lease, 't2')).groupContext).toHaveLength(1);
        await store.inbox.accept(createMessage('m3', 'c1', { type: 'group' }));
        await store.lanes.interrupt(lease, 't2', 7);
        expect((await claimNextTurn(store, lease, 't3')).groupContext).toHaveLength(1);
      });
    });

    it('[D03] follows the busy policy for the chat of its newest message', async () => {
      await store.lanes.commit(lease, createAnswer('t1', ['one']), 6);
      for (const id of ['m2', 'm3']) await store.inbox.accept(createMessage(id));
      const one = await claimNextTurn(store, lease, 't2', { direct: 'followup' });
      expect(listMessageIds(one)).toEqual(['m2']);
      await store.lanes.commit(lease, createAnswer('t2', ['two']), 7);
      await store.inbox.accept(createMessage('m4'));
      expect(
        listMessageIds(await claimNextTurn(store, lease, 't3', { group: 'followup' })),
      ).toEqual(['m3', 'm4']);
    });
  });
}
