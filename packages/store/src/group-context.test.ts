import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ClaimedTurn } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' } as const;

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`group context on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const say = (messageId: string, text = messageId, chatId = 'c1', most?: number) =>
      store.groupContext.keep(
        { ...CHAT, chatId, conversationId: `web:${chatId}` },
        { messageId, senderId: 'u2', senderName: 'Bo', text },
        0,
        most,
      );
    const heardBy = (turn: ClaimedTurn) => turn.groupContext.map(({ text }) => text);
    /** Returns the context of the lane's next turn, which is left unfinished. */
    const nextTurn = async (id: string) => {
      await store.inbox.accept(createMessage(id, 'c1', { type: 'group' }));
      return startTurn(store, `turn-${id}`);
    };

    it('[F06] shows group messages with their senders to the next turn, and clears them after use', async () => {
      await say('a');
      await say('b');
      await say('elsewhere', 'elsewhere', 'c2');
      const first = await nextTurn('m1');
      expect(first.turn.groupContext).toEqual([
        { messageId: 'a', senderId: 'u2', senderName: 'Bo', text: 'a' },
        { messageId: 'b', senderId: 'u2', senderName: 'Bo', text: 'b' },
      ]);
      await store.lanes.commit(first.lease, createAnswer('turn-m1', ['fine']), 0);
      const second = await nextTurn('m2');
      expect(heardBy(second.turn)).toEqual([]);
      await store.lanes.commit(second.lease, createAnswer('turn-m2', ['fine']), 0);
      // The row is deleted, so the same message can be stored again.
      await say('a');
      expect(heardBy((await nextTurn('m3')).turn)).toEqual(['a']);
    });

    it('[F06] shows a resumed turn the same context, even if messages arrived in the meantime', async () => {
      await say('before');
      await nextTurn('m1');
      await say('during');
      const { lease, turn: resumed } = await startTurn(store, 'unused');
      expect(resumed).toMatchObject({ turnId: 'turn-m1', resumed: true });
      expect(heardBy(resumed)).toEqual(['before']);
      await store.lanes.commit(lease, createAnswer('turn-m1', ['fine']), 0);
      expect(heardBy((await nextTurn('m2')).turn)).toEqual(['during']);
    });

    it('[F06] keeps the newest 50 messages, each once and truncated to 500 characters', async () => {
      for (let n = 1; n <= 60; n += 1) await say(`s${n}`);
      await say('s60');
      await say('long', 'x'.repeat(600));
      const heard = heardBy((await nextTurn('m1')).turn);
      expect(heard).toHaveLength(50);
      expect(heard.slice(0, 2)).toEqual(['s12', 's13']);
      expect(heard.at(-1)).toBe(`${'x'.repeat(500)}… [cut: 500 of 600 characters]`);
    });

    it('[F06] keeps as many messages as the settings allow, even after a stop and alongside notices', async () => {
      for (let n = 1; n <= 70; n += 1) await say(`s${n}`, `s${n}`, 'c1', n <= 60 ? 60 : 55);
      const place = { ...CHAT, conversationId: 'web:c1' };
      await store.groupContext.keepOwn(place, { key: 'k', what: 'notice', text: 'own' }, 0);
      const first = heardBy((await nextTurn('m1')).turn);
      expect([first.length, first.at(0), first.at(-1)]).toEqual([56, 's16', 'own']);
      await say('later');
      await store.inbox.command(createMessage('m2'), (command) => command.stop());
      const again = heardBy((await nextTurn('m3')).turn);
      expect([again.length, again.at(0), again.at(-1)]).toEqual([56, 's17', 'later']);
      await store.inbox.command(createMessage('m4'), (command) => command.stop());
      await say('few', 'few', 'c1', 2);
      expect(heardBy((await nextTurn('m5')).turn)).toEqual(['later', 'few']);
    });

    it('[F06] clears the context on /new', async () => {
      await say('old');
      await store.inbox.command(createMessage('m0'), (command) => command.startSession());
      await say('new');
      expect(heardBy((await nextTurn('m1')).turn)).toEqual(['new']);
    });

    it('[F06] passes the context of a stopped turn to the next turn', async () => {
      await say('a');
      await nextTurn('m1');
      await store.inbox.command(createMessage('m2'), (command) => command.stop());
      expect(heardBy((await nextTurn('m3')).turn)).toEqual(['a']);
    });

    it('edits or deletes context when the author edits or deletes the message', async () => {
      await say('edited');
      await say('deleted');
      const key = (messageId: string) => ({ ...CHAT, messageId });
      const edited = { ...createMessage('edited').message, text: 'better' };
      expect(await store.inbox.revise(key('edited'), edited)).toBe(true);
      expect(await store.inbox.revise(key('deleted'), null)).toBe(true);
      expect(await store.inbox.revise(key('unknown'), null)).toBe(false);
      expect(heardBy((await nextTurn('m1')).turn)).toEqual(['better']);
    });
  });
}
