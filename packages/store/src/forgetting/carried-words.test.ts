import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { NewPart } from '../rows.ts';
import type { Store } from '../store.ts';
import { listDatabasesOfDay } from '../testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  startTurn,
} from '../testing/messages.ts';

const GROUP = 'web:g';
const OWNERS = { channel: 'web', account: 'default', chatId: 'own' };
const EVERY_HOUR = { kind: 'every', ms: 3_600_000, from: 0 } as const;
const SECRET = 'the amaranth of bob';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(
    `a person's words that are quoted elsewhere, on ${database.name}`,
    () => {
      let store: Store;
      beforeEach(async () => {
        store = await database.openEmpty();
        const { message: own, ...row } = createMessage('o1', 'own');
        await store.inbox.accept({ ...row, fromOwner: true, message: by('ada', own) });
      });
      afterAll(() => database.dispose());

      const by = (id: string, one: ReturnType<typeof createMessage>['message']) => ({
        ...one,
        sender: { ...one.sender, id, name: `Name ${id}` },
      });
      const said = (id: string, who: string, text: string, chat = 'bob', replyTo?: object) => {
        const type = chat === 'g' ? ({ type: 'group' } as const) : {};
        const { message: one, ...row } = createMessage(id, chat, type);
        const written = { ...by(who, one), text, ...replyTo };
        return store.inbox.accept({ ...row, message: written });
      };
      const claimed = async (turnId: string, lane: string) => {
        const { lease } = await startTurn(store, turnId, lane, `w-${turnId}`);
        return lease;
      };
      const forget = (only: string | null = null) =>
        store.forgetting.forgetPerson({
          persons: ['web:bob'],
          ownersToo: false,
          only,
          now: 9,
          onStopped() {},
          retell: (rows) => ({ text: rows.map((row) => row.message.text).join() }),
        });
      const deliver = async (chat = OWNERS) => {
        for (const { part: waiting } of await store.outbox.unfinished(chat, 9)) {
          await store.outbox.markSending(waiting.id, 1);
          await store.outbox.markSent(waiting.id, `p of ${waiting.body.text}`, 2);
        }
      };
      const bodies = async (chat = OWNERS) =>
        JSON.stringify((await store.outbox.recent(chat, 99)).map((row) => row.part.body));
      const ask = async (turnId: string, lane: string, askedIn: string, parts: NewPart[]) => {
        const lease = await claimed(turnId, lane);
        const question = {
          ...{ code: 'ABC234', turnId, callKey: `${turnId}.0`, tool: 'write', shown: SECRET },
          ...{ askedBy: 'web:bob', place: lane, askedIn, approvers: [], expiresAt: 9_999 },
        };
        await store.approvals.ask(lease, question, parts, 3);
      };

      it("[G15] removes forgotten text from a question in the owner's chat, with its dead letter", async () => {
        await said('b1', 'bob', SECRET);
        await ask('t1', 'web:bob', 'web:own', [
          createPart(SECRET, 'own'),
          createPart(`2 ${SECRET}`, 'own'),
        ]);
        const first = (await store.outbox.next(OWNERS))?.part.id ?? '';
        await store.outbox.markSending(first, 4);
        await store.outbox.markFailed(first, 'unknown', SECRET, 4, null);
        await deliver();
        const other = createPart('I am back.', 'own');
        await store.outbox.enqueue([other], 5);
        expect(await bodies()).toContain(SECRET);

        await forget();

        expect(await bodies()).not.toContain('amaranth');
        expect(await bodies()).toContain('I am back.');
        expect(await store.deadLetters.open({ limit: 9 })).toEqual([]);
        expect(await store.approvals.recent(9)).toEqual([]);
      });

      it('[G15] removes forgotten text from the list of open questions shown to the owner', async () => {
        await said('b1', 'bob', SECRET);
        await ask('t1', 'web:bob', 'web:own', [createPart('May I?', 'own')]);
        const list = { code: null, verdict: 'approved', by: 'web:ada' } as const;
        await store.inbox.command(createMessage('k1', 'own'), async (command) =>
          command.answer(createPart(JSON.stringify(await command.decideApproval(list)), 'own')),
        );
        await deliver();
        expect(await bodies()).toContain(SECRET);
        await forget();
        expect(await bodies()).not.toContain('amaranth');
      });

      it('[G15] removes forgotten text from the notice that a stranger has asked for access', async () => {
        const stranger = {
          channel: 'web',
          account: 'default',
          senderId: 'bob',
          senderName: SECRET,
        };
        const applicant = { ...stranger, route: createTestRoute('bob') };
        await store.pairing.request(
          applicant,
          'CODE',
          [createPart(`${SECRET} wants in`, 'own')],
          1,
        );
        await said('b1', 'bob', 'hello there');
        await deliver();
        await forget();
        expect(await bodies()).not.toContain('amaranth');
      });

      it('[G15] removes forgotten text from a question in a group, and keeps what others asked there', async () => {
        await said('g1', 'bob', SECRET, 'g');
        await ask('t1', GROUP, GROUP, [createPart(`May I? ${SECRET}`, 'g')]);
        await store.outbox.enqueue([createPart('I am back.', 'g')], 5);
        const group = { ...OWNERS, chatId: 'g' };
        await forget(GROUP);
        expect(await bodies(group)).not.toContain('amaranth');
        expect(await bodies(group)).toContain('I am back.');
      });

      it("[G15] removes quotes of the person, and of answers to the person, from other people's messages", async () => {
        await said('g1', 'bob', SECRET, 'g');
        const lease = await claimed('t1', GROUP);
        await store.lanes.commit(lease, createAnswer('t1', [`re ${SECRET}`], 'g'), 4);
        await store.lanes.release(lease);
        await deliver({ ...OWNERS, chatId: 'g' });
        const quote = (messageId: string, more: object) => ({ replyTo: { messageId, ...more } });
        await said('g2', 'ann', 'I agree', 'g', quote('g1', { text: SECRET }));
        await said('g3', 'ann', 'And I', 'g', quote('x', { senderId: 'bob', text: SECRET }));
        await said('g4', 'ann', 'To that', 'g', quote(`p of re ${SECRET}`, { text: SECRET }));
        await said(
          'g5',
          'ann',
          'Or tea',
          'g',
          quote('g0', { senderId: 'eve', text: 'cake of eve' }),
        );
        const elsewhere = (senderId: string, text: string) => ({ quotation: { senderId, text } });
        await said('g6', 'ann', 'Elsewhere', 'g', elsewhere('bob', SECRET));
        await said('g7', 'ann', 'And there', 'g', elsewhere('eve', 'cake of eve'));

        await forget(GROUP);

        const rows = await store.inbox.recent({ ...OWNERS, chatId: 'g' }, 99);
        const kept = rows.map(({ message: { text, replyTo, quotation } }) => [
          text,
          (replyTo ?? quotation)?.text,
        ]);
        expect(kept.slice(1)).toEqual([
          ['I agree', '[forgotten]'],
          ['And I', '[forgotten]'],
          ['To that', '[forgotten]'],
          ['Or tea', 'cake of eve'],
          ['Elsewhere', '[forgotten]'],
          ['And there', 'cake of eve'],
        ]);
      });

      it("[G15] ends a forgotten person's jobs in a group, but not other people's jobs", async () => {
        await said('g1', 'bob', SECRET, 'g');
        const job = (who: string) => ({
          ...{ id: `job of ${who}`, askedBy: `call of ${who}`, conversationId: GROUP },
          ...{
            route: createTestRoute('g'),
            origin: by(who, createMessage('g1', 'g').message),
            fromOwner: false,
          },
          ...{ title: 'tea', task: `Tea for ${who}`, nextAt: 9, timetable: EVERY_HOUR },
        });
        const bounds = { perConversation: 9, total: 9 };
        for (const who of ['bob', 'ann']) await store.cronJobs.add(job(who), bounds, 1);
        expect(await forget(GROUP)).toMatchObject({ cronJobs: 1 });
        expect((await store.cronJobs.list()).map(({ id }) => id)).toEqual(['job of ann']);
      });

      it('[G15] removes a forgotten phrase from a question in another chat', async () => {
        await said('b1', 'bob', SECRET);
        await ask('t1', 'web:bob', 'web:own', [createPart(`May I? ${SECRET} now`, 'own')]);
        const forgotten = await store.forgetting.forget({
          conversations: ['web:bob'],
          ownersToo: false,
          phrases: [SECRET],
        });
        expect(forgotten.answers).toBe(1);
        expect(await bodies()).toContain('May I? [forgotten] now');
      });
    },
  );
}
