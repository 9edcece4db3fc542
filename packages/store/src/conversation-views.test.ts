import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { PageCursor } from './conversation-views/messages.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, createPart, DAY, startTurn } from './testing/messages.ts';

const NOW = 100 * DAY;

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`conversations as people see them on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const say = (id: string, chat: string, text: string, more: Said = {}) => {
      const { name = 'Ann', title, at = NOW, ...facts } = more;
      const one = createMessage(id, chat, { at });
      const type = title === undefined ? ('direct' as const) : ('group' as const);
      return store.inbox.accept({
        ...one,
        message: {
          ...one.message,
          ...facts,
          text,
          sender: { ...one.message.sender, name },
          chat: { id: chat, type, ...(title === undefined ? {} : { title }) },
        },
      });
    };
    interface Said {
      readonly name?: string;
      readonly title?: string;
      readonly at?: number;
      readonly trigger?: 'cron';
    }

    const reply = async (
      chat: string,
      text: string,
      outcome: 'answered' | 'failed' = 'answered',
    ) => {
      const turnId = `turn-${chat}`;
      const { lease } = await startTurn(store, turnId, `web:${chat}`);
      const usage = { model: 'm1', inputTokens: 7, outputTokens: 3, costUsd: 0.5 };
      const reason = outcome === 'failed' ? { reason: 'the model is not there' } : {};
      await store.lanes.commit(
        lease,
        { ...createAnswer(turnId, [text], chat), outcome, usage, ...reason },
        NOW + 1,
      );
      await store.lanes.release(lease);
    };

    const list = (before: number | null = null, limit = 9) =>
      store.conversations.list({ before, limit });
    const search = (typed: string, limit = 9, before: PageCursor | null = null) =>
      store.conversations.search({ typed, before, limit, scrub: (text) => text }, () => NOW + DAY);
    const found = async (typed: string) =>
      (await search(typed)).hits.map(({ title, excerpt }) => `${title}: ${excerpt}`);

    /**
     * The number of index entries that contain a word, even if the indexed text has changed since.
     */
    const entriesWith = async (word: string): Promise<number> => {
      if (database.name === 'SQLite') {
        const look = new DatabaseSync(database.url().slice('sqlite:'.length));
        const rows = look.prepare('select 1 from search_entry where words match ?').all(word);
        look.close();
        return rows.length;
      }
      const client = new Client({ connectionString: database.url() });
      await client.connect();
      const { rowCount } = await client.query(
        'select 1 from search_entry where words @@ $1::tsquery',
        [word],
      );
      await client.end();
      return rowCount ?? 0;
    };

    it('[U08] lists chats with people by name, newest first, one page at a time', async () => {
      await say('1', 'c1', 'hello', { name: 'Ann' });
      await say('2', 'g1', 'hi all', { name: 'Bo', title: 'Garden club' });
      await say('3', 'c3', 'me too', { name: 'Cy' });
      await store.inbox.accept({ ...createMessage('b', 'x'), conversationId: 'beat:main' });
      const [first, second] = await list(null, 2);
      expect(first).toMatchObject({ title: 'Cy', chatType: 'direct', channel: 'web' });
      expect(second).toMatchObject({ title: 'Garden club', chatType: 'group', waiting: 1 });
      expect(await list(second?.newest ?? 0)).toMatchObject([{ title: 'Ann', id: 'web:c1' }]);
      await say('4', 'c1', 'again');
      expect((await list()).map(({ title }) => title)).toEqual(['Ann', 'Cy', 'Garden club']);
    });

    it('[U08] [U03] shows the last message of each chat and whether it is waiting, running or failed', async () => {
      await say('1', 'c1', 'one');
      expect(await list()).toMatchObject([
        { state: 'waiting', waiting: 1, last: { direction: 'in', text: 'one', at: NOW } },
      ]);
      const { lease } = await startTurn(store, 't1', 'web:c1', 'w');
      expect(await list()).toMatchObject([{ state: 'running', waiting: 0, runningSince: 0 }]);
      await store.lanes.commit(lease, createAnswer('t1', ['two']), NOW + 1);
      await store.lanes.release(lease);
      expect(await list()).toMatchObject([
        { state: 'idle', failure: null, last: { direction: 'out', text: 'two' } },
      ]);
      await say('2', 'c1', 'three');
      await reply('c1', 'sorry', 'failed');
      expect(await list()).toMatchObject([{ failure: { reason: 'the model is not there' } }]);
    });

    it("[U08] names a chat after its person, even if the last message came from one of Parley's jobs", async () => {
      await say('1', 'c1', 'remind me', { name: 'Ann' });
      await say('2', 'c1', 'say it', { name: 'cron', trigger: 'cron' });
      expect(await list()).toMatchObject([{ title: 'Ann', last: { text: 'say it' } }]);
    });

    it('[U08] shows both sides in chronological order and pages back to the first message', async () => {
      for (let nth = 0; nth < 25; nth += 1) {
        await say(`${nth}`, 'c1', `question ${nth}`, { at: NOW + 2 * nth });
        const { lease } = await startTurn(store, `t${nth}`, 'web:c1', 'w');
        await store.lanes.commit(
          lease,
          createAnswer(`t${nth}`, [`answer ${nth}`]),
          NOW + 2 * nth + 1,
        );
        await store.lanes.release(lease);
      }
      const seen: string[] = [];
      let before: PageCursor | null = null;
      do {
        const query = { conversationId: 'web:c1', before, until: null, limit: 7 };
        const page = await store.conversations.messages(query);
        seen.unshift(...page.messages.map(({ text }) => text));
        before = page.older;
      } while (before !== null);
      const all = Array.from({ length: 25 }, (_, nth) => [`question ${nth}`, `answer ${nth}`]);
      expect(seen).toEqual(all.flat());
      const until = { conversationId: 'web:c1', before: null, until: NOW + 9, limit: 2 };
      const { messages } = await store.conversations.messages(until);
      expect(messages.map(({ text }) => text)).toEqual(['question 4', 'answer 4']);
    });

    it("[U08] shows each message's author and outcome, and the id that explains the message", async () => {
      await say('1', 'c1', 'one', { name: 'Ann' });
      await reply('c1', 'two');
      await say('2', 'c1', 'three', { at: NOW + 2 });
      const query = { conversationId: 'web:c1', before: null, until: null, limit: 9 };
      const { messages } = await store.conversations.messages(query);
      expect(messages).toMatchObject([
        { from: 'Ann', state: 'answered', direction: 'in' },
        { from: null, state: 'pending', direction: 'out', why: 'turn-c1' },
        { from: 'Ann', state: 'waiting', text: 'three' },
      ]);
      for (const { why } of messages) {
        expect((await store.why.ask({ message: why ?? '' }, NOW)).kind).toBe('found');
      }
    });

    it('[U08] adds the Markdown of the answers on a page; an answer is the last text in its turn', async () => {
      const texts = { t1: ['I will look', '**found**'], t2: ['_second_'], t3: [] };
      for (const [turnId, answers] of Object.entries(texts)) {
        await say(turnId, 'c1', 'a question');
        const { lease } = await startTurn(store, turnId, 'web:c1', 'w');
        const entries = answers.map((text) => ({ role: 'assistant' as const, content: { text } }));
        await store.lanes.commit(lease, { ...createAnswer(turnId, ['sent']), entries }, NOW + 1);
        await store.lanes.release(lease);
      }
      const query = { conversationId: 'web:c1', before: null, until: null, limit: 9 };
      const { answers } = await store.conversations.messages(query);
      expect([...answers].toSorted()).toEqual([
        ['t1', '**found**'],
        ['t2', '_second_'],
      ]);
    });

    it('[U08] keeps the threads in a chat separate', async () => {
      const inThread = async (id: string, threadId: string) => {
        const one = createMessage(id, 'g', { at: NOW, threadId });
        const conversationId = `web:g:${threadId}`;
        await store.inbox.accept({ ...one, conversationId });
        const { lease } = await startTurn(store, `t${id}`, conversationId, 'w');
        const parts = [{ ...createPart(`in ${threadId}`, 'g'), route: one.route }];
        await store.lanes.commit(lease, { ...createAnswer(`t${id}`, []), parts }, NOW + 1);
        await store.lanes.release(lease);
      };
      await inThread('1', 'a');
      await inThread('2', 'b');
      const page = async (conversationId: string) =>
        (
          await store.conversations.messages({
            ...{ conversationId, before: null, until: null, limit: 9 },
          })
        ).messages.map(({ text }) => text);
      expect(await page('web:g:a')).toEqual(['text of 1', 'in a']);
      expect(await page('web:g:b')).toEqual(['text of 2', 'in b']);
      expect(await list()).toMatchObject([
        { last: { text: 'in b' } },
        { last: { text: 'text of 1' } },
      ]);
    });

    it('[U08] summarizes a conversation: mode, model, cost and files', async () => {
      await say('1', 'c1', 'one');
      await reply('c1', 'two');
      const one = createMessage('2', 'c1', { at: NOW });
      const attachments = [{ kind: 'document' as const, name: 'plan.pdf', size: 9, ref: 'r' }];
      await store.inbox.accept({ ...one, message: { ...one.message, attachments } });
      expect(await store.conversations.details('web:c1', NOW)).toMatchObject({
        mode: 'agent',
        model: null,
        answeredBy: 'm1',
        spent: { turns: 1, tokens: 10, costUsd: 0.5, unpriced: 0 },
        files: [{ name: 'plan.pdf', kind: 'document', size: 9 }],
      });
      expect(await store.conversations.details('web:none', NOW)).toBeNull();
    });

    it('[U03] [U12] counts turns whose price is unknown, except turns written by a person', async () => {
      await say('1', 'c1', 'one');
      const { lease } = await startTurn(store, 't1');
      const usage = { model: 'm1', inputTokens: 5, outputTokens: 5, costUsd: null };
      await store.lanes.commit(lease, { ...createAnswer('t1', ['two']), usage }, NOW);
      await store.lanes.release(lease);
      await store.takeovers.takeOver({ conversationId: 'web:c1', by: 'Ann', lastsMs: 1_000 });
      await say('2', 'c1', 'three');
      await store.takeovers.reply({
        ...{ conversationId: 'web:c1', by: 'Ann', as: 'self', requestKey: 'k' },
        ...{ parts: [createPart('four')], entries: () => [] },
      });
      expect(await store.conversations.details('web:c1', NOW)).toMatchObject({
        spent: { turns: 1, tokens: 10, costUsd: 0, unpriced: 1 },
      });
    });

    it('[U08] changes the mode, starts a new session and stops work the way the chat commands do', async () => {
      await say('1', 'c1', 'one');
      const act = store.conversations.act;
      const plan = await act('web:c1', { kind: 'mode', to: 'plan' }, NOW);
      expect(plan?.mode).toEqual({ before: 'agent', now: 'plan' });
      await act('web:c1', { kind: 'model', change: { to: 'm2' } }, NOW);
      expect(await list()).toMatchObject([{ mode: 'plan', model: 'm2' }]);
      await startTurn(store, 't1', 'web:c1', 'w');
      await say('2', 'c1', 'two');
      expect(await act('web:c1', { kind: 'stop' }, NOW)).toMatchObject({
        stoppedTurn: 't1',
        setAside: 1,
      });
      expect(await list()).toMatchObject([{ state: 'idle', mode: 'plan', waiting: 0 }]);
      await act('web:c1', { kind: 'new-session' }, NOW);
      await say('3', 'c1', 'three');
      expect((await startTurn(store, 't2')).turn).toMatchObject({ session: 1 });
      expect(await act('web:none', { kind: 'stop' }, NOW)).toBeNull();
    });

    it('[U08] stops a conversation whose newest message is a button press without effect', async () => {
      await say('1', 'c1', 'one');
      await startTurn(store, 't1', 'web:c1', 'w');
      const { message: typed, ...row } = createMessage('2', 'c1', { at: NOW });
      const press = { ...row, message: { ...typed, text: '/resend', pressed: 'nowhere' } };
      await store.inbox.command(press, (command) => command.pressCounts());
      const done = await store.conversations.act('web:c1', { kind: 'stop' }, NOW);
      expect(done).toMatchObject({ stoppedTurn: 't1' });
    });

    it('[U08] finds words from both sides in any language, including by prefix', async () => {
      await say('1', 'c1', 'Wie groß ist die Größe des Gartens?', { name: 'Ann' });
      await reply('c1', 'The garden has ninety square metres');
      await say('2', 'c2', '我们明天去公园好吗', { name: 'Li' });
      expect(await found('grosse')).toEqual(['Ann: Wie groß ist die Größe des Gartens?']);
      expect(await found('gart')).toEqual(['Ann: Wie groß ist die Größe des Gartens?']);
      expect(await found('square NINETY')).toEqual(['Ann: The garden has ninety square metres']);
      expect(await found('公园')).toEqual(['Li: 我们明天去公园好吗']);
      expect(await found('园公')).toEqual([]);
      expect(await found('garden nothing')).toEqual([]);
      expect(await found(`' " * ) OR`)).toEqual([]);
      expect(await search('明天')).toMatchObject({
        hits: [{ conversationId: 'web:c2', channel: 'web', direction: 'in', from: 'Li' }],
        older: null,
        missing: 0,
      });
    });

    it('[U08] finds a very long text by its first words, without hiding other results', async () => {
      const word = (nth: number) => `${nth}${'ж'.repeat(70)}`;
      const long = Array.from({ length: 12_000 }, (_, nth) => word(nth)).join(' ');
      await say('1', 'c1', `first ${long} last`);
      await say('2', 'c2', 'last but not least');
      expect((await search('first')).hits).toHaveLength(1);
      expect(await found('last')).toEqual(['Ann: last but not least']);
    });

    it('[U08] returns hits in pages of limited size, newest first, and includes later messages', async () => {
      for (let nth = 0; nth < 5; nth += 1) {
        await say(`${nth}`, 'c1', `apple ${nth}`, { at: NOW + nth });
      }
      const first = await search('apple', 3);
      expect(first.hits.map(({ excerpt }) => excerpt)).toEqual(['apple 4', 'apple 3', 'apple 2']);
      const second = await search('apple', 3, first.older);
      expect(second.hits.map(({ excerpt }) => excerpt)).toEqual(['apple 1', 'apple 0']);
      expect(second.older).toBeNull();
      await say('9', 'c1', 'apple 9');
      expect(await found('apple 9')).toHaveLength(1);
    });

    it('[U08] spreads the indexing of a long history over several searches', async () => {
      for (let nth = 0; nth < 3; nth += 1) await say(`${nth}`, 'c1', `apple ${nth}`);
      const query = { typed: 'apple', before: null, limit: 9, scrub: (text: string) => text };
      const { hits, missing } = await store.conversations.search(query, () => NOW, -1);
      expect([hits, missing]).toEqual([[], 3]);
      expect((await search('apple')).missing).toBe(0);
    });

    it('[U08] finds an edited message only by its new words', async () => {
      await say('1', 'c1', 'apple');
      const clock = () => NOW + 10 * 60_000;
      const look = async (typed: string) =>
        (
          await store.conversations.search(
            { typed, before: null, limit: 9, scrub: (text) => text },
            clock,
          )
        ).hits.length;
      expect(await look('apple')).toBe(1);
      const key = { channel: 'web', account: 'default', chatId: 'c1', messageId: '1' };
      await store.inbox.revise(key, { ...createMessage('1').message, text: 'pear' });
      expect([await look('apple'), await look('pear')]).toEqual([0, 1]);
    });

    it('[U08] removes secrets before truncating the text', async () => {
      await say('1', 'c1', 'the key is sk-12345 for you');
      const scrub = (text: string) => text.replaceAll('sk-12345', '[secret]');
      const query = { typed: '12345', before: null, limit: 9, scrub };
      const { hits } = await store.conversations.search(query, () => NOW);
      expect(hits.map(({ excerpt }) => excerpt)).toEqual(['the key is [secret] for you']);
    });

    it('[G15] does not find forgotten text, and removes its words from the index', async () => {
      await say('1', 'c1', 'the amaranth is mine', { name: 'Ann' });
      await reply('c1', 'your amaranth is red');
      await say('2', 'c2', 'apples for all', { name: 'Bo' });
      expect(await found('amaranth')).toHaveLength(2);
      await store.forgetting.forget({
        ...{ conversations: ['web:c1'], ownersToo: false, phrases: ['amaranth'] },
      });
      expect(await entriesWith('amaranth')).toBe(0);
      expect(await found('amaranth')).toEqual([]);
      expect(await found('mine')).toHaveLength(1);
      expect(await entriesWith('amaranth')).toBe(0);
      if (database.name === 'SQLite') {
        expect(await store.forgetting.searchFiles(['amaranth'])).toMatchObject({ found: 0 });
      }
    });

    it('[G15] does not leave forgotten words in the index when a search runs at the same time', async () => {
      for (let nth = 0; nth < 250; nth += 1) await say(`${nth}`, 'c1', `the amaranth ${nth}`);
      const words = { phrases: ['amaranth'] };
      const forget = () =>
        store.forgetting.forget({ conversations: ['web:c1'], ownersToo: false, ...words });
      await Promise.all([search('amaranth'), forget(), search('amaranth'), search('the')]);
      expect(await found('amaranth')).toEqual([]);
      expect(await entriesWith('amaranth')).toBe(0);
      expect((await search('the')).hits).toHaveLength(9);
    });

    it('[G15] [D05] does not find text from a forgotten person, but still finds what others wrote', async () => {
      await say('1', 'c1', 'the amaranth is mine', { name: 'Ann' });
      await reply('c1', 'your amaranth is red');
      await say('2', 'c2', 'no amaranth for me', { name: 'Bo' });
      expect(await found('amaranth')).toHaveLength(3);
      await store.forgetting.forgetPerson({
        ...{ persons: ['web:u1'], ownersToo: false, only: 'web:c1', now: NOW },
        onStopped() {},
        retell: () => '',
      });
      expect(await entriesWith('amaranth')).toBe(0);
      expect(await found('amaranth')).toEqual(['Bo: no amaranth for me']);
      expect(await entriesWith('amaranth')).toBe(1);
    });

    it('[G15] [U12] finds the words beside removed text, but not those of the placeholder', async () => {
      await say('1', 'c1', 'amaranth');
      await reply('c1', 'deleted amaranth');
      await say('2', 'c2', 'a forgotten rose, and a deleted one');
      await say('3', 'c3', 'tulips');
      await reply('c3', 'more tulips');
      const words = { conversations: ['web:c1'], ownersToo: false, phrases: ['amaranth'] };
      await store.forgetting.forget(words);
      await store.forgetting.deleteConversation({
        ...{ conversationId: 'web:c3', by: 'Ann', now: NOW },
        onStopped() {},
      });
      expect(await found('forgotten')).toEqual(['Ann: a forgotten rose, and a deleted one']);
      expect(await found('deleted')).toEqual([
        'Ann: deleted [forgotten]',
        'Ann: a forgotten rose, and a deleted one',
      ]);
      expect(await found('[deleted]')).toEqual([]);
      expect(await entriesWith('forgotten')).toBe(1);
    });

    it('[U12] does not find messages that other chats sent into a conversation before it was deleted', async () => {
      await say('1', 'c1', 'hello');
      await say('2', 'c2', 'tell c1 about the tulips');
      await startTurn(store, 't2', 'web:c2');
      const parts = [createPart('tulips for c1', 'c1')] as const;
      await store.outbox.post({ key: 'k', parts, turn: { id: 't2', most: 9 } }, NOW);
      expect((await search('tulips for')).hits).toMatchObject([{ conversationId: 'web:c1' }]);
      await store.forgetting.deleteConversation({
        ...{ conversationId: 'web:c1', by: 'Ann', now: NOW },
        onStopped() {},
      });
      expect(await found('tulips for')).toEqual([]);
      await say('3', 'c1', 'hello again');
      expect(await found('tulips for')).toEqual([]);
    });

    it('[D15] removes index entries for rows that retention deletes', async () => {
      await say('1', 'c1', 'an old apple', { at: 1 });
      await store.inbox.revise(
        { channel: 'web', account: 'default', chatId: 'c1', messageId: '1' },
        null,
      );
      await say('2', 'c1', 'a new apple');
      expect(await found('apple')).toHaveLength(2);
      const ages = { messages: DAY, history: DAY, decisions: DAY, prompts: DAY, spend: DAY };
      const pace = { clock: () => NOW, countFrom: NOW, pause: async () => true };
      await store.retention.run({ ages, bytes: Number.POSITIVE_INFINITY }, pace);
      expect(await found('apple')).toEqual(['Ann: a new apple']);
      expect(await entriesWith('apple')).toBe(1);
    });
  });
}
