import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Lease } from '../rows.ts';
import type { Store } from '../store.ts';
import { listDatabasesOfDay } from '../testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  startTurn,
} from '../testing/messages.ts';

const CHAT = { conversationId: 'web:c1', session: 0 };
const SECRET = 'amaranth';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`forgetting on ${database.name}`, () => {
    let store: Store;
    let lease: Lease;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept({ ...createMessage('m1'), fromOwner: true });
      ({ lease } = await startTurn(store, 't1'));
    });
    afterAll(() => database.dispose());

    const forget = () =>
      store.forgetting.forget({
        conversations: [CHAT.conversationId],
        ownersToo: false,
        phrases: [SECRET],
      });

    it('[G15] removes to-dos, delegated tasks and approvals', async () => {
      await store.todos.replace(CHAT, [{ text: `buy ${SECRET}`, state: 'open' }], 1);
      const content = { title: `${SECRET} one`, task: `look for Amaranth`, text: 'begin' } as const;
      const order = { id: 'a', callId: 'c', turnId: 't1', reader: 'owner', ...content } as const;
      await store.subAgents.start(order, { depth: 2, concurrent: 3 }, 2);
      const question = {
        code: 'ABC234',
        turnId: 't1',
        callKey: 't1.0.0',
        tool: 'write',
        shown: `{"text":"${SECRET}"}`,
        askedBy: 'web:u1',
        place: 'web c1',
        askedIn: 'web:c1',
        approvers: ['web:u1'],
        expiresAt: 1_000,
      };
      await store.approvals.ask(lease, question, [createPart(`May I? ${SECRET}`)], 3);

      const forgotten = await forget();

      expect(forgotten).toMatchObject({ pins: 3, answers: 1 });
      expect(await store.todos.of(CHAT)).toEqual([{ text: 'buy [forgotten]', state: 'open' }]);
      const run = await store.subAgents.of('sub:a');
      const asked = await store.approvals.recent(9);
      expect(JSON.stringify([run, asked])).not.toMatch(/amaranth/i);
      expect(JSON.stringify([run, asked])).toContain('[forgotten]');
    });

    it('[G15] does not change what others said, and finds nothing the second time', async () => {
      await store.inbox.accept(createMessage('other', 'c2'));
      await store.lanes.commit(lease, createAnswer('t1', [`all about ${SECRET}`]), 4);
      expect((await forget()).answers).toBe(1);
      expect(await forget()).toEqual({
        history: 0,
        messages: 0,
        answers: 0,
        steps: 0,
        pins: 0,
        prompts: 0,
        copies: 0,
      });
    });

    describe('[G15] removes everything that a person wrote', () => {
      const GROUP = 'web:g';
      let stopped: string[];
      beforeEach(() => {
        stopped = [];
      });
      const said = (id: string, who: string, text: string, type: 'direct' | 'group' = 'group') => {
        const chat = type === 'group' ? 'g' : who;
        const { message: one, ...row } = createMessage(id, chat);
        const sender = { ...one.sender, id: who, name: `Name ${who}` };
        const written = { ...one, chat: { id: chat, type }, sender, text };
        return store.inbox.accept({ ...row, message: written });
      };
      const noteStopped = (lane: string) => void stopped.push(lane);
      const forgetAll = (only: string | null = null, onStopped = noteStopped) =>
        store.forgetting.forgetPerson({
          persons: ['web:bob'],
          ownersToo: false,
          only,
          now: 9,
          onStopped,
          retell: (rows) => ({ text: rows.map((row) => row.message.text).join() }),
        });
      const entry = (role: 'user' | 'assistant', text: string) => ({ role, content: { text } });
      const turn = async (id: string, conversation: string, text: string) => {
        const { lease: held } = await startTurn(store, id, conversation, `w-${id}`);
        const entries = [entry('user', text), entry('assistant', `re ${text}`)];
        const parts = [createPart(`re ${text}`, conversation.slice('web:'.length))];
        const outcome = 'answered' as const;
        await store.lanes.commit(held, { turnId: id, outcome, entries, parts, usage: null }, 4);
        await store.lanes.release(held);
      };
      const history = async (conversationId: string) =>
        (await store.transcript.recent(conversationId, 0, 99)).map(({ content }) => content);

      const replyIn = (conversationId: string, text: string) =>
        store.takeovers.reply({
          ...{ conversationId, by: 'Ann', as: 'self', requestKey: text },
          parts: [createPart(text, conversationId.slice('web:'.length))],
          entries: (rows) => [
            ...(rows.length === 0
              ? []
              : [entry('user', rows.map(({ message: { text } }) => text).join())]),
            entry('user', `Ann: ${text}`),
          ],
        });
      const sentTo = async (chatId: string) =>
        (await store.outbox.recent({ channel: 'web', account: 'default', chatId }, 9)).map(
          (one) => one.part.body.text,
        );

      it('[U12] removes what a person answered in a takeover, and the reply to it', async () => {
        await said('x1', 'bob', 'red hats');
        await store.takeovers.takeOver({ conversationId: GROUP, by: 'Ann', lastsMs: 1_000 });
        await said('x2', 'cleo', 'blue hats');
        await replyIn(GROUP, 'hats, then');
        await said('x3', 'cleo', 'green hats');
        await replyIn(GROUP, 'green ones');
        await forgetAll();
        expect(await history(GROUP)).toEqual([
          { text: 'blue hats' },
          { text: 'green hats' },
          { text: 'Ann: green ones' },
        ]);
        expect(await sentTo('g')).toEqual(['green ones']);
      });

      it('[U12] removes everything written in a direct chat, even without a takeover', async () => {
        await said('d1', 'bob', 'red hats', 'direct');
        await replyIn('web:bob', 'hats, then');
        await forgetAll();
        expect(await history('web:bob')).toEqual([]);
        expect(await sentTo('bob')).toEqual([]);
      });

      it('removes reactions in a group that may quote the person', async () => {
        await said('g1', 'bob', 'amaranth');
        const place = { channel: 'web', account: 'default', chatId: 'g', conversationId: GROUP };
        const line = { messageId: 'g1', senderId: 'ann', senderName: 'Ann', sentAt: 0 };
        await store.reactions.keep(place, { ...line, text: '[reacted to "amaranth"]' }, 0);
        await forgetAll(GROUP);
        await said('g2', 'ann', 'cake of ann');
        expect((await startTurn(store, 't-cake', GROUP)).turn.groupContext).toEqual([]);
      });

      it('leaves an empty chat that still recognizes duplicates', async () => {
        await said('d1', 'bob', 'the amaranth of bob', 'direct');
        await turn('b1', 'web:bob', 'the amaranth of bob');
        await said('d2', 'bob', 'more amaranth', 'direct');

        const forgotten = await forgetAll();

        expect(forgotten).toMatchObject({ whole: 1, groups: 0, messages: 2 });
        expect(await history('web:bob')).toEqual([]);
        const chat = { channel: 'web', account: 'default', chatId: 'bob' };
        const rows = [await store.inbox.recent(chat, 9), await store.outbox.recent(chat, 9)];
        expect(JSON.stringify(rows)).not.toMatch(/amaranth|Name bob/);
        expect(await said('d2', 'bob', 'more amaranth', 'direct')).toBe('duplicate');
      });

      it('stops the running turn and does not store its answer', async () => {
        await said('d1', 'bob', 'the amaranth of bob', 'direct');
        const { lease: held } = await startTurn(store, 'b1', 'web:bob');
        await forgetAll();
        expect(stopped).toEqual(['web:bob']);
        const late = await store.lanes.commit(held, createAnswer('b1', ['amaranth'], 'bob'), 4);
        expect(late).not.toBe('committed');
        expect(await history('web:bob')).toEqual([]);
      });

      it('keeps what other people in a group said, even in a turn that also answered the forgotten person', async () => {
        await said('g1', 'ann', 'tea of ann');
        await turn('t-ann', GROUP, 'tea of ann');
        await said('g2', 'bob', 'amaranth');
        await turn('t-bob', GROUP, 'amaranth');
        await said('g3', 'bob', 'amaranth again');
        await said('g4', 'ann', 'cake of ann');
        await turn('t-both', GROUP, 'amaranth again, cake of ann');
        await said('d1', 'bob', 'alone', 'direct');

        expect(await forgetAll(GROUP)).toMatchObject({ whole: 0, groups: 1, messages: 2 });

        expect(await history(GROUP)).toEqual([
          { text: 'tea of ann' },
          { text: 're tea of ann' },
          { text: 'cake of ann' },
        ]);
        const chat = { channel: 'web', account: 'default', chatId: 'g' };
        const inbox = await store.inbox.recent(chat, 9);
        expect(inbox.map((row) => row.message.text).sort()).toEqual([
          '[forgotten]',
          '[forgotten]',
          'cake of ann',
          'tea of ann',
        ]);
        const answers = await store.outbox.recent(chat, 9);
        expect(JSON.stringify([inbox, answers])).not.toContain('amaranth');
        expect(JSON.stringify(answers)).toContain('re tea of ann');
        expect(JSON.stringify(await store.inbox.recent({ ...chat, chatId: 'bob' }, 9))).toContain(
          'alone',
        );
      });

      it.each([
        ['direct', 'web:bob'],
        ['group', GROUP],
      ] as const)(
        '[D06] does not restore messages when a replay runs at the same time in a %s chat',
        async (type, lane) => {
          await said('f1', 'bob', 'amaranth', type);
          const { lease: held } = await startTurn(store, 't-failed', lane);
          const failed = { ...createAnswer('t-failed', [], 'bob'), outcome: 'failed' } as const;
          await store.lanes.commit(held, failed, 4);
          const [letter] = await store.deadLetters.open({ limit: 9 });
          await said('f2', 'bob', 'more amaranth', type);
          await claimNextTurn(store, held, 't-running');
          let replaying: Promise<{ readonly kind: string }> | undefined;
          await forgetAll(lane, () => {
            replaying = store.deadLetters.replay(letter?.id ?? 0, 'once', 9);
          });
          expect(await replaying).toEqual({ kind: 'missing' });
          expect(await store.lanes.withWork(9, 1_000)).toEqual([]);
        },
      );

      it("makes other people's messages in a group available to the next turn again", async () => {
        await said('g1', 'bob', 'amaranth');
        await said('g2', 'ann', 'cake of ann');
        await startTurn(store, 't-both', GROUP);
        await forgetAll(GROUP);
        expect(stopped).toEqual([GROUP]);
        const { turn: next } = await startTurn(store, 't-next', GROUP, 'w2');
        expect(next.messages.map((row) => row.message.text)).toEqual(['cake of ann']);
      });
    });
  });
}
