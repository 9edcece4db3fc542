import type { StepInfo } from '@parley/core';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { RewindPoint } from './rewind.ts';
import type { Lease } from './rows.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { claimNextTurn, createMessage, createPart, startTurn } from './testing/messages.ts';

const LANE = 'web:c1';
const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const SUMMARY = { conversationId: LANE, session: 0, reader: 'owner', kind: 'history' } as const;
const LAST: RewindPoint = { kind: 'exchanges', count: 1 };

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`rewinding on ${database.name}`, () => {
    let store: Store;
    let moment = 0;
    const next = () => {
      moment += 1;
      return moment;
    };
    beforeEach(async () => {
      store = await database.openEmpty();
      moment = 0;
    });
    afterAll(() => database.dispose());

    const ask = async (id: string): Promise<Lease> => {
      await store.inbox.accept({ ...createMessage(id), receivedAt: next() });
      return (await startTurn(store, `t-${id}`)).lease;
    };
    /** Asks a question and answers it, as the history records it. */
    const exchange = async (id: string): Promise<void> => {
      const lease = await ask(id);
      const entries = [entry('user', id), entry('assistant', `re ${id}`)];
      const parts = [createPart(`re ${id}`)];
      const commit = {
        turnId: `t-${id}`,
        outcome: 'answered',
        entries,
        parts,
        usage: null,
      } as const;
      await store.lanes.commit(lease, commit, next());
      await store.lanes.release(lease);
    };
    const entry = (role: 'user' | 'assistant', text: string) => ({ role, content: { text } });
    const command = (id: string, point: RewindPoint) =>
      store.inbox.command({ ...createMessage(id), receivedAt: next() }, (transaction) =>
        transaction.rewind(point),
      );
    const rewind = async (point: RewindPoint = LAST) => {
      const result = await store.conversations.rewind(LANE, point, next());
      return result !== null && typeof result === 'object'
        ? { undone: result.messages.map(({ message }) => message.messageId), ...result }
        : result;
    };
    const history = async (session = 0): Promise<readonly string[]> => {
      const place = { conversationId: LANE, session, reader: 'owner' };
      const { entries } = await store.transcript.sinceSummary(place, 100);
      return entries.map(({ content }) => Object(content).text);
    };
    const shown = () =>
      store.conversations.messages({ conversationId: LANE, before: null, until: null, limit: 50 });
    const states = async () => (await shown()).messages.map((one) => `${one.text} ${one.history}`);
    const shownId = async (text: string): Promise<RewindPoint> => {
      const found = (await shown()).messages.find((one) => one.text === text);
      return { kind: 'shown', id: found?.id ?? '' };
    };
    const summarize = async (
      mark: string,
      reaches: number,
      kind: 'history' | 'day' = 'history',
    ) => {
      const task = { ...SUMMARY, kind, mark };
      await store.summaries.claim(task, { by: 'w', now: 0, claimMs: 9, impatient: true });
      return store.summaries.finish(task, 'w', { content: `notes ${reaches}`, reaches });
    };
    const newestSeq = async (session = 0) =>
      (await store.transcript.newestAfter({ conversationId: LANE, session }, 0, 1))[0]?.seq ?? 0;

    it('[G23] takes the last exchange out of the history and keeps it readable', async () => {
      for (const id of ['a', 'b']) await exchange(id);
      expect(await history()).toEqual(['a', 're a', 'b', 're b']);
      expect(await rewind()).toMatchObject({ undone: ['b'], stoppedTurn: null, effects: [] });
      expect(await history()).toEqual(['a', 're a']);
      expect(await states()).toEqual([
        'text of a now',
        're a now',
        'text of b rewound',
        're b rewound',
      ]);
      expect((await shown()).answers.get('t-b')).toBe('re b');
      const recent = await store.outbox.recent(CHAT, 9);
      expect(recent.map(({ isRewound }) => isRewound)).toEqual([undefined, true]);
    });

    it('[G23] undoes as many exchanges as asked, at most the whole session, and then nothing', async () => {
      for (const id of ['a', 'b', 'c']) await exchange(id);
      expect(await rewind({ kind: 'exchanges', count: 2 })).toMatchObject({ undone: ['b', 'c'] });
      await exchange('d');
      expect(await history()).toEqual(['a', 're a', 'd', 're d']);
      expect(await rewind({ kind: 'exchanges', count: 9 })).toMatchObject({ undone: ['a', 'd'] });
      expect(await history()).toEqual([]);
      expect(await rewind()).toBe('nothing');
    });

    it('[G23] undoes a quoted question with what follows, and keeps a quoted answer', async () => {
      for (const id of ['a', 'b', 'c']) await exchange(id);
      const quoted = (messageId: string) => ({ kind: 'quoted', chat: CHAT, messageId }) as const;
      expect(await command('r1', quoted('c'))).toMatchObject({ turns: ['t-c'] });
      expect(await rewind(await shownId('re a'))).toMatchObject({ undone: ['b'] });
      expect(await history()).toEqual(['a', 're a']);
      expect(await rewind(await shownId('re a'))).toBe('nothing');
      expect(await command('r2', quoted('c'))).toBe('unknown');
      expect(await rewind(await shownId('text of a'))).toMatchObject({ undone: ['a'] });
    });

    it('[G23] stops a running turn, undoes it, and never stores what it still says', async () => {
      await exchange('a');
      const lease = await ask('b');
      await store.inbox.accept(createMessage('c'));
      const result = await command('r1', LAST);
      expect(result).toMatchObject({ stoppedTurn: 't-b', setAside: 1, turns: ['t-b'] });
      const late = { turnId: 't-b', entries: [entry('assistant', 'late')], parts: [] };
      expect(await store.turns.savePartialAnswer({ ...late, conversationId: LANE }, 9)).toBeNull();
      const commit = { ...late, outcome: 'answered', usage: null } as const;
      expect(await store.lanes.commit(lease, commit, 9)).toBe('fenced');
      expect(await history()).toEqual(['a', 're a']);
      await exchange('d');
      expect(await history()).toEqual(['a', 're a', 'd', 're d']);
    });

    it('[G23] counts waiting messages as the last exchange, and a stopped turn as one', async () => {
      await exchange('a');
      await store.inbox.accept(createMessage('b'));
      expect(await rewind()).toMatchObject({ undone: [], setAside: 1 });
      await ask('c');
      await store.conversations.act(LANE, { kind: 'stop' }, 5);
      expect(await rewind()).toMatchObject({ undone: ['c'] });
      expect(await history()).toEqual(['a', 're a']);
    });

    it('[G23] leaves earlier sessions alone, and /new begins an empty one', async () => {
      await exchange('a');
      await store.conversations.act(LANE, { kind: 'new-session' }, 3);
      expect(await rewind()).toBe('nothing');
      expect(await rewind(await shownId('re a'))).toBe('unknown');
      await exchange('b');
      expect(await rewind({ kind: 'exchanges', count: 5 })).toMatchObject({ undone: ['b'] });
      await store.conversations.act(LANE, { kind: 'new-session' }, 4);
      expect([await history(0), await history(1), await history(2)]).toEqual([
        ['a', 're a'],
        [],
        [],
      ]);
    });

    it('[G23] drops summaries that cover what was undone, also unfinished ones, and no others', async () => {
      const place = { conversationId: LANE, session: 0, reader: 'owner' };
      await exchange('a');
      const early = await newestSeq();
      await summarize('0', early);
      await exchange('b');
      await summarize(String(early), await newestSeq());
      await summarize('2026-11-27', await newestSeq(), 'day');
      await store.pins.fix(place, 'owner:prompt:house:full', 'p', 0);
      await store.pins.fix(place, 'owner:persona', 'Robin', 0);
      await exchange('c');
      const claim = { by: 'w', now: 0, claimMs: 9, impatient: true };
      const task = { ...SUMMARY, mark: String(await newestSeq()) };
      await store.summaries.claim(task, claim);
      await rewind({ kind: 'exchanges', count: 2 });
      expect(await store.summaries.latest(place)).toEqual({
        content: `notes ${early}`,
        reaches: early,
      });
      expect(await store.summaries.ofDay(place, '2026-11-27')).toBeNull();
      expect(await store.summaries.finish(task, 'w', { content: 'late', reaches: 99 })).toBe(false);
      expect(await store.pins.fix(place, 'owner:prompt:house:full', 'new', 0)).toBe('new');
      expect(await store.pins.fix(place, 'owner:persona', 'new', 0)).toBe('Robin');
      expect(await summarize(String(early), early + 1)).toBe(true);
    });

    it('[G23] lists what tools changed, also those of sub-agents, and what was cut off', async () => {
      const lease = await ask('a');
      const model = (...calls: readonly (readonly [name: string, about: string])[]) => ({
        kind: 'model',
        calls: calls.map(([name, about]) => ({ name, arguments: JSON.stringify({ about }) })),
      });
      const append = (
        of: Lease,
        turnId: string,
        index: number,
        content: object,
        facts?: StepInfo,
      ) =>
        store.turns.appendStep(
          of,
          turnId,
          { index, content, ...(facts && { timing: { startedAt: 0, facts } }) },
          index,
        );
      const ended = (
        call: string,
        tool: string,
        effect?: 'read' | 'write' | 'external',
        outcome: 'done' | 'failed' | 'not-run' = 'done',
      ): StepInfo => ({ kind: 'tool', tool, outcome, call, ...(effect && { effect }) });
      const calls = [
        ['write', 'x.md'],
        ['read', 'y.md'],
        ['message', 'denied'],
        ['edit', 'z.md'],
        ['old', 'tool'],
        ['exec', 'make'],
      ] as const;
      await append(lease, 't-a', 0, model(...calls));
      await append(lease, 't-a', 1, {}, ended('t-a.0.0', 'write', 'write'));
      await append(lease, 't-a', 2, {}, ended('t-a.0.1', 'read', 'read'));
      await append(lease, 't-a', 3, {}, ended('t-a.0.2', 'message', 'external', 'not-run'));
      await append(lease, 't-a', 4, {}, ended('t-a.0.3', 'edit', 'write', 'failed'));
      await append(lease, 't-a', 5, {}, ended('t-a.0.4', 'old'));
      const order = { turnId: 't-a', title: 't', task: 't', reader: 'owner', text: 'w' } as const;
      const bounds = { depth: 2, concurrent: 3 };
      await store.subAgents.start({ ...order, id: 's', callId: 's' }, bounds, 5);
      const { lease: own } = await startTurn(store, 'sub-turn', 'sub:s');
      await append(own, 'sub-turn', 6, model(['cron', 'daily']));
      await append(own, 'sub-turn', 7, {}, ended('sub-turn.6.0', 'cron', 'external'));
      await append(lease, 't-a', 8, { kind: 'started', call: 't-a.0.5' });
      expect(await command('r', LAST)).toMatchObject({
        stoppedSubAgents: ['sub:s'],
        effects: [
          { tool: 'write', about: 'x.md', state: 'done' },
          { tool: 'edit', about: 'z.md', state: 'failed' },
          { tool: 'old', about: 'tool', state: 'done' },
          { tool: 'cron', about: 'daily', state: 'done' },
          { tool: 'exec', about: 'make', state: 'unknown' },
        ],
      });
    });

    it('[G23] also lists what a turn did that a later message interrupted', async () => {
      const lease = await ask('a');
      const model = { kind: 'model', calls: [{ name: 'write', arguments: '{}' }] };
      const facts = { kind: 'tool', tool: 'write', outcome: 'done', call: 't-a.0.0' } as const;
      await store.turns.appendStep(lease, 't-a', { index: 0, content: model }, 5);
      const timing = { startedAt: 0, facts };
      await store.turns.appendStep(lease, 't-a', { index: 1, content: {}, timing }, 5);
      await store.inbox.accept({ ...createMessage('b'), receivedAt: next() });
      expect(await store.lanes.interrupt(lease, 't-a', next())).toEqual({ kind: 'interrupted' });
      await claimNextTurn(store, lease, 't-b');
      const effects = [{ tool: 'write', about: '', state: 'done' }];
      expect(await rewind()).toMatchObject({ undone: ['a', 'b'], stoppedTurn: 't-b', effects });
    });

    it('[G23] treats rewound messages like others when a conversation is deleted', async () => {
      await exchange('a');
      await rewind();
      const removed = { conversationId: LANE, by: 'Ann', now: 9, onStopped() {} };
      await store.forgetting.deleteConversation(removed);
      expect((await shown()).messages).toEqual([]);
      expect(await history(-1)).toEqual([]);
    });

    it('[G23] gives the model exactly the visible messages that are not folded, after any sequence', async () => {
      const acts = fc.oneof(
        { weight: 4, arbitrary: fc.constant('ask' as const) },
        { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
        { weight: 2, arbitrary: fc.record({ nth: fc.nat(9), isAnswer: fc.boolean() }) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('new' as const, 'compact' as const, 'stop' as const),
        },
      );
      const runs = { numRuns: database.name === 'SQLite' ? 25 : 5 };
      await fc.assert(
        fc.asyncProperty(fc.array(acts, { maxLength: 14 }), async (sequence) => {
          store = await database.openEmpty();
          let session = 0;
          for (const [nth, act] of sequence.entries()) {
            if (act === 'ask') await exchange(`m${nth}`);
            else if (act === 'stop') await ask(`m${nth}`).then(() => rewind());
            else if (act === 'new') {
              if ((await store.conversations.act(LANE, { kind: 'new-session' }, 1)) !== null)
                session += 1;
            } else if (act === 'compact' && (await newestSeq(session)) > 0) {
              const entries = await store.transcript.recent(LANE, session, 100);
              const [last] = await store.transcript.newestAfter(
                { conversationId: LANE, session },
                0,
                1,
              );
              const task = { ...SUMMARY, session, mark: `${nth}` };
              await store.summaries.claim(task, { by: 'w', now: 0, claimMs: 9, impatient: true });
              const content = entries.map(({ content }) => Object(content).text);
              if (last !== undefined)
                await store.summaries.finish(task, 'w', { content, reaches: last.seq });
            } else if (act === 'compact') continue;
            else if (typeof act === 'number') await rewind({ kind: 'exchanges', count: act });
            else await rewind(await shownId(`${act.isAnswer ? 're ' : 'text of '}m${act.nth}`));
            const place = { conversationId: LANE, session, reader: 'owner' };
            const { summary, entries } = await store.transcript.sinceSummary(place, 100);
            const covered = Array.isArray(summary?.content) ? summary.content : [];
            const read = [...covered, ...entries.map(({ content }) => Object(content).text)];
            const unfolded = (await shown()).messages.filter((one) => one.history === 'now');
            expect(read).toEqual(unfolded.map(({ text }) => text.replace('text of ', '')));
          }
        }),
        runs,
      );
    });
  });
}
