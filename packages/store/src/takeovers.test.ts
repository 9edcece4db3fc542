import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ReplyResult } from './person-replies.ts';
import type { TranscriptEntry } from './rows.ts';
import type { Store } from './store.ts';
import { isTakenOver, MAX_TAKEOVER_MS } from './taken-over.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const LANE = 'web:c1';
const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const HOUR = 3_600_000;

describe('a takeover', () => {
  it.each([
    ['none', null, 5, false],
    ['before its end', 10, 9, true],
    ['at its end', 10, 10, false],
    ['after its end', 10, 11, false],
    ['the longest', 5 + MAX_TAKEOVER_MS, 5, true],
    ['longer than any takeover, because the clock was set back', 6 + MAX_TAKEOVER_MS, 5, false],
  ])('[U12] applies until it ends, and no longer: %s', (_case, until, now, lasts) => {
    expect(isTakenOver(until, now)).toBe(lasts);
  });
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`takeovers on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('m1'));
    });
    afterAll(() => database.dispose());

    const takeOver = (lastsMs = HOUR, by = 'Ann', conversationId = LANE) =>
      store.takeovers.takeOver({ conversationId, by, lastsMs });
    const begin = (turnId = 't1', owner = 'w2') =>
      store.lanes.begin({ conversationId: LANE, owner, leaseMs: 1_000 }, 'collect', turnId, 0);
    const entries = (texts: readonly string[]): readonly TranscriptEntry[] =>
      texts.map((text) => ({ role: 'user', content: { text } }));
    const reply = (
      text: string,
      {
        key = text,
        as = 'self',
        seen,
      }: { key?: string; as?: 'agent' | 'self'; seen?: number } = {},
    ): Promise<ReplyResult | null> =>
      store.takeovers.reply({
        conversationId: LANE,
        ...{ by: 'Ann', as, requestKey: key, seen },
        parts: [createPart(text)],
        entries: (answered) =>
          entries([...answered.map((row) => row.message.messageId), `Ann: ${text}`]),
      });
    const history = async () =>
      (await store.transcript.recent(LANE, 0, 50)).map(({ content }) => Object(content).text);
    const sent = async () =>
      (await store.outbox.recent(CHAT, 50)).map((one) => `${one.part.body.text} ${one.state}`);
    const withWork = () => store.lanes.withWork(9, 1_000);

    it('[U12] hold messages without starting a turn until the conversation is handed back', async () => {
      expect(await takeOver()).toEqual({ until: HOUR });
      await store.inbox.accept(createMessage('m2'));
      expect(await begin()).toEqual({ kind: 'taken-over' });
      expect(await withWork()).toEqual([]);
      expect(await store.takeovers.handBack(LANE, 'Ben')).toBe(true);
      expect(await withWork()).toEqual([LANE]);
      const begun = await begin();
      expect(begun.kind === 'turn' && listMessageIds(begun.turn)).toEqual(['m1', 'm2']);
    });

    it('[U12] prevent a worker that holds the lane from claiming more turns, and other workers from acquiring the lane', async () => {
      const { lease } = await startTurn(store, 't0');
      await store.lanes.commit(lease, createAnswer('t0', []), 1);
      await store.inbox.accept(createMessage('m2'));
      await takeOver();
      expect(await store.lanes.claim(lease, 'collect', 't2', 0)).toEqual({ kind: 'fenced' });
      for (const owner of ['w1', 'w2']) {
        const work = { conversationId: LANE, owner, leaseMs: 1_000 };
        expect(await store.lanes.begin(work, 'collect', 't3', 0)).toEqual({ kind: 'taken-over' });
      }
      await store.takeovers.handBack(LANE, 'Ann');
      expect((await begin()).kind).toBe('turn');
    });

    it('[U12] end when they expire, and the sweep then finds the waiting messages', async () => {
      await takeOver(60_000);
      database.setTime(59_999);
      expect([await withWork(), await begin()]).toEqual([[], { kind: 'taken-over' }]);
      database.setTime(60_000);
      expect(await withWork()).toEqual([LANE]);
      expect((await begin()).kind).toBe('turn');
      expect((await store.takeovers.recent(9)).takeovers).toMatchObject([
        { by: 'Ann', at: 0, until: 60_000, endedAt: 60_000, endedBy: null },
      ]);
    });

    it('[U12] replace one another, and both people are recorded', async () => {
      await takeOver(60_000);
      database.setTime(10);
      expect(await takeOver(HOUR, 'Ben')).toEqual({ until: HOUR + 10 });
      database.setTime(60_001);
      expect(await begin()).toEqual({ kind: 'taken-over' });
      expect((await store.takeovers.recent(9)).takeovers).toMatchObject([
        { by: 'Ben', at: 10, endedAt: null },
        { by: 'Ann', at: 0, endedAt: 10, endedBy: 'Ben' },
      ]);
    });

    it("[U12] discard the running turn's writes until the conversation is handed back and the turn resumes", async () => {
      const { lease } = await startTurn(store, 't1');
      await store.turns.appendStep(lease, 't1', { index: 0, content: { done: 1 } }, 0);
      await takeOver();
      expect(await store.lanes.commit(lease, createAnswer('t1', ['Hello']), 1)).toBe('fenced');
      expect(await sent()).toEqual([]);
      await store.takeovers.handBack(LANE, 'Ann');
      const begun = await begin('t2');
      expect(begun.kind === 'turn' && begun.turn).toMatchObject({
        ...{ turnId: 't1', resumed: true, attempts: 0 },
        steps: [{ index: 0 }],
      });
    });

    it('[U12] withhold parts that were committed but not sent', async () => {
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['one', 'two']), 1);
      const due = await store.outbox.next(CHAT);
      await store.outbox.markSending(due?.part.id ?? '', 2);
      await takeOver();
      expect(await sent()).toEqual(['one sending', 'two failed']);
      const [{ undelivered } = {}] = (await store.transcript.recent(LANE, 0, 9)).slice(-1);
      expect(undelivered).toMatch(/took this chat over/);
    });

    it('[U12] let a reply answer waiting messages, which enter the history before it and do not get a turn', async () => {
      await takeOver();
      await store.inbox.accept(createMessage('m2'));
      expect(await reply('Hi')).toMatchObject({ kind: 'stored', answered: 2 });
      await store.inbox.accept(createMessage('m3'));
      await store.takeovers.handBack(LANE, 'Ann');
      const begun = await begin();
      expect(begun.kind === 'turn' && listMessageIds(begun.turn)).toEqual(['m3']);
      expect(await history()).toEqual(['m1', 'm2', 'Ann: Hi']);
      expect(await sent()).toEqual(['Hi pending']);
    });

    it('[U12] let a reply answer only messages that its author had seen', async () => {
      await takeOver();
      const [{ newest } = { newest: 0 }] = await store.conversations.list({
        before: null,
        limit: 9,
      });
      await store.inbox.accept(createMessage('m2'));
      expect(await reply('Hi', { seen: newest })).toMatchObject({ answered: 1 });
      await store.takeovers.handBack(LANE, 'Ann');
      const begun = await begin();
      expect(begun.kind === 'turn' && listMessageIds(begun.turn)).toEqual(['m2']);
    });

    it('[U12] let a reply end the unfinished turn whose messages it answers', async () => {
      await startTurn(store, 't1');
      await takeOver();
      expect(await reply('Hi')).toMatchObject({ answered: 1 });
      await store.takeovers.handBack(LANE, 'Ann');
      expect([await withWork(), await begin()]).toEqual([[], { kind: 'none' }]);
      expect(await history()).toEqual(['m1', 'Ann: Hi']);
    });

    const suspend = async () => {
      const { lease } = await startTurn(store, 't1');
      const asked = { callKey: 't1.0.0', tool: 'write', shown: '{}', askedBy: 'web:u1' };
      const place = { place: 'web c1', askedIn: LANE, approvers: ['web:u2'], expiresAt: HOUR };
      const question = { code: 'ABC234', turnId: 't1', ...asked, ...place };
      await store.approvals.ask(lease, question, [createPart('May I?')], 1);
      await store.lanes.release(lease);
    };
    const approvals = async () => (await store.approvals.recent(9)).map(({ state }) => state);

    it('[U12] [G05] allow a question to be decided during the takeover; its turn continues after the conversation is handed back', async () => {
      await suspend();
      await takeOver();
      const decision = { verdict: 'approved', by: 'console:Ann' } as const;
      await store.approvals.decide('ABC234', decision, 2);
      expect([await approvals(), await begin()]).toEqual([['approved'], { kind: 'taken-over' }]);
      await store.takeovers.handBack(LANE, 'Ann');
      expect(await begin('t2')).toMatchObject({ kind: 'turn', turn: { turnId: 't1' } });
    });

    it('[U12] [G05] withdraw a question if a person answers the messages that led to it', async () => {
      await suspend();
      await takeOver();
      expect(await reply('No need')).toMatchObject({ answered: 1 });
      expect(await approvals()).toEqual(['withdrawn']);
      await store.takeovers.handBack(LANE, 'Ann');
      expect(await begin()).toEqual({ kind: 'none' });
    });

    it("[U12] keep Parley's own messages waiting for the agent, even if a person replies", async () => {
      const job = createMessage('j1');
      await store.inbox.accept({ ...job, message: { ...job.message, trigger: 'cron' } });
      await takeOver();
      expect(await reply('Hi')).toMatchObject({ answered: 1 });
      await store.takeovers.handBack(LANE, 'Ann');
      const begun = await begin();
      expect(begun.kind === 'turn' && listMessageIds(begun.turn)).toEqual(['j1']);
    });

    it('[U12] store a reply once, even if the request arrives twice at the same moment', async () => {
      await takeOver();
      const both = await Promise.all([reply('Hi', { key: 'k' }), reply('Hi', { key: 'k' })]);
      expect(both.map((one) => one?.kind).toSorted()).toEqual(['known', 'stored']);
      expect(await sent()).toEqual(['Hi pending']);
      expect(await history()).toEqual(['m1', 'Ann: Hi']);
    });

    it('[U12] are not needed for a reply, which joins the history while the agent keeps answering', async () => {
      expect(await reply('Hi')).toMatchObject({ kind: 'stored', answered: 0 });
      const begun = await begin();
      expect(begun.kind === 'turn' && listMessageIds(begun.turn)).toEqual(['m1']);
      expect(await history()).toEqual(['Ann: Hi']);
    });

    it('[U12] stop other turns from posting to a chat that was taken over, but not to another thread in the chat', async () => {
      await store.inbox.accept(createMessage('o1', 'c2'));
      await startTurn(store, 't2', 'web:c2');
      await takeOver();
      const post = (key: string, thread?: string) => {
        const { body } = createPart(key);
        const parts = [{ route: createTestRoute('c1', thread), body }] as const;
        return store.outbox.post({ key, parts, turn: { id: 't2', most: 9 } }, 5);
      };
      expect((await post('a')).kind).toBe('taken-over');
      expect((await post('b', 'topic')).kind).toBe('posted');
      await store.takeovers.handBack(LANE, 'Ann');
      expect((await post('c')).kind).toBe('posted');
    });

    it('[U12] do not make a waiting worker count as stuck', async () => {
      expect((await store.backlog.oldest(5)).message).not.toBeNull();
      await takeOver();
      expect((await store.backlog.oldest(5)).message).toBeNull();
      expect((await store.backlog.oldest(HOUR)).message).not.toBeNull();
    });

    it('[U12] are shown with the conversation until they end', async () => {
      const state = async () => {
        const [one] = await store.conversations.list({ before: null, limit: 9 });
        expect(await store.conversations.details(LANE, 0)).toMatchObject({ ...one });
        return one?.takenOver;
      };
      expect(await state()).toBeNull();
      await takeOver(60_000);
      expect(await state()).toEqual({ by: 'Ann', since: 0, until: 60_000 });
      database.setTime(60_000);
      expect(await state()).toBeNull();
    });

    it("[U12] show a person's text as the person's own, and the agent may not change it", async () => {
      await takeOver();
      await reply('Hi', { as: 'agent' });
      const query = { conversationId: LANE, before: null, until: null, limit: 9 };
      const { messages } = await store.conversations.messages(query);
      expect(messages.map(({ writtenBy }) => writtenBy)).toEqual([
        null,
        { name: 'Ann', as: 'agent' },
      ]);
      const id = (await store.outbox.next(CHAT))?.part.id ?? '';
      await store.outbox.markSending(id, 1);
      await store.outbox.markSent(id, 'p1', 2);
      expect(
        await store.outbox.ownAnswers({ conversationId: LANE, route: createPart('').route }, 9),
      ).toEqual([]);
    });

    it('[U12] do not change an empty, unknown or already returned conversation', async () => {
      expect(await takeOver(HOUR, 'Ann', 'web:none')).toBeNull();
      expect(await store.takeovers.handBack('web:none', 'Ann')).toBeNull();
      expect(await store.takeovers.handBack(LANE, 'Ann')).toBe(false);
      await takeOver(1);
      database.setTime(1);
      expect(await store.takeovers.handBack(LANE, 'Ann')).toBe(false);
    });
  });
}
