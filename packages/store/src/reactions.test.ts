import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ClaimedTurn } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, createPart, startTurn } from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' } as const;
const PLACE = { ...CHAT, conversationId: 'web:c1' };

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`reactions to messages on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const react = (text: string, sentAt: number, messageId = 'm1', senderId = 'u2') =>
      store.reactions.keep(PLACE, { messageId, senderId, senderName: 'Bo', text, sentAt }, 0);
    const heardBy = (turn: ClaimedTurn) => turn.groupContext.map(({ text }) => text);
    /** Returns the context for the direct chat's next turn; `answered` ends that turn. */
    const nextTurn = async (id: string) => {
      await store.inbox.accept(createMessage(id));
      const { lease, turn } = await startTurn(store, `turn-${id}`);
      const answered = () => store.lanes.commit(lease, createAnswer(turn.turnId, ['fine']), 0);
      return { heard: heardBy(turn), answered };
    };

    it('[F06] shows reactions to the next turn of a direct chat once, and only the last one per person and message', async () => {
      await react('up', 1);
      await react('other message', 1, 'm2');
      await react('other person', 1, 'm1', 'u3');
      await react('down', 2);
      const first = await nextTurn('q1');
      expect(first.heard).toEqual(['other message', 'other person', 'down']);
      await first.answered();
      expect((await nextTurn('q2')).heard).toEqual([]);
    });

    it('[F06] shows changed reactions to the next turn if a turn already has the earlier ones', async () => {
      await react('up', 1);
      const first = await nextTurn('q1');
      await react('up', 1);
      await react('down', 2);
      const { lease, turn } = await startTurn(store, 'unused');
      expect(heardBy(turn)).toEqual(['up']);
      await store.lanes.commit(lease, createAnswer('turn-q1', ['fine']), 0);
      expect(first.heard).toEqual(['up']);
      expect((await nextTurn('q2')).heard).toEqual(['down']);
    });

    it("[F06] keeps reactions for a person's next message when Parley itself writes to a direct chat", async () => {
      await react('up', 1);
      const own = createMessage('beat');
      await store.inbox.accept({ ...own, message: { ...own.message, trigger: 'heartbeat' } });
      const { lease, turn } = await startTurn(store, 'turn-beat');
      expect(heardBy(turn)).toEqual([]);
      await store.lanes.commit(lease, createAnswer('turn-beat', ['fine']), 0);
      expect((await nextTurn('q1')).heard).toEqual(['up']);
    });

    it('[F06] finds the message that a reaction refers to by its platform id', async () => {
      await store.inbox.accept(createMessage('asked', 'c1', { threadId: 't' }));
      const said = { messageId: 'heard', senderId: 'u9', senderName: 'Cy', text: 'pizza' };
      await store.groupContext.keep(PLACE, said, 0);
      await store.outbox.enqueue([createPart('Good morning')], 0);
      const due = await store.outbox.next(CHAT);
      if (due === null) throw new Error('nothing to send');
      await store.outbox.markSending(due.part.id, 0);
      await store.outbox.markSent(due.part.id, 'answer', 0);
      const found = (messageId: string, chatId = 'c1') =>
        store.reactions.message({ ...CHAT, chatId, messageId });
      expect(await found('answer')).toMatchObject({ by: 'agent', text: 'Good morning' });
      expect(await found('asked')).toEqual({
        by: 'person',
        senderId: 'u1',
        senderName: 'Ada 🦜',
        text: 'text of asked',
        conversationId: 'web:c1',
      });
      expect(await found('heard')).toMatchObject({ senderName: 'Cy', text: 'pizza' });
      expect([await found('unknown'), await found('answer', 'c2')]).toEqual([null, null]);
    });
  });
}
