import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { AdmittedMessage, TurnCommit } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, listMessageIds, startTurn } from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const LANE = 'web:c1';
const PLACE = { conversationId: LANE, session: 0, reader: 'owner' };
const FILE = { kind: 'image', name: 'a.png', size: 3, ref: 'r' } as const;
const BO = { id: 'u2', name: 'Bo', isBot: false };
const BYTES = new Uint8Array([1, 2, 3]);

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`replacing a message on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const replacing = (id: string, replaces: string, more: object = {}): AdmittedMessage => {
      const admitted = createMessage(id, 'c1', { at: 9 });
      return { ...admitted, message: { ...admitted.message, replaces, ...more } };
    };
    /** Sends a message and returns the ids that it replaced; null if the store reported none. */
    const send = async (admitted: AdmittedMessage) => {
      let replaced: readonly string[] | null = null;
      const stored = await store.inbox.accept(admitted, 99, (ids) => {
        replaced = ids;
      });
      return { stored, replaced };
    };
    const turn = async (turnId: string, more: Partial<TurnCommit> = {}) => {
      const { lease, turn: claimed } = await startTurn(store, turnId);
      const entries = [
        { role: 'user' as const, content: `${listMessageIds(claimed)}?` },
        { role: 'assistant' as const, content: `${listMessageIds(claimed)}!` },
      ];
      await store.lanes.commit(lease, { ...createAnswer(turnId, ['said']), entries, ...more }, 1);
      await store.lanes.release(lease);
      for (let part = await next(); part !== undefined; part = await next()) {
        await store.outbox.markSending(part, 1);
        await store.outbox.markSent(part, `p-${part}`, 1);
      }
      return claimed;
    };
    const next = async () => (await store.outbox.next(CHAT))?.part.id;
    const remembered = async () =>
      (await store.transcript.sinceSummary(PLACE, 9)).entries.map(({ content }) => content);
    const outcomes = async () =>
      (await store.inbox.recent(CHAT, 9)).map((row) => [row.message.messageId, row.outcome]);

    it("[U08] removes the question and its answer from the model's history, but keeps their rows", async () => {
      await store.inbox.accept(createMessage('m0'));
      await turn('t0');
      await store.inbox.accept(createMessage('m1'));
      const usage = { model: 'm', inputTokens: 5, outputTokens: 5, costUsd: 1 };
      await turn('t1', { usage });
      expect(await remembered()).toEqual(['m0?', 'm0!', 'm1?', 'm1!']);
      const { replaced, stored } = await send(replacing('m2', 'm1'));
      const [kept, gone] = await store.outbox.recent(CHAT, 9);
      expect([stored, replaced]).toEqual(['stored', ['m1', gone?.part.id]]);
      expect([kept?.isReplaced, gone?.isReplaced]).toEqual([undefined, true]);
      expect(await remembered()).toEqual(['m0?', 'm0!']);
      expect(await outcomes()).toEqual([
        ['m0', 'answered'],
        ['m1', 'replaced'],
        ['m2', null],
      ]);
      expect(await store.turns.totals(0)).toMatchObject({ answered: 2, costUsd: 1 });
      const found = await store.conversations.search(
        { typed: 'm1', before: null, limit: 9, scrub: (text) => text },
        () => 99,
      );
      expect(found.hits).toHaveLength(1);
      await turn('t2');
      expect(await remembered()).toEqual(['m0?', 'm0!', 'm2?', 'm2!']);
    });

    it('[D01] [U08] replaces a message once, even if the replacement is sent several times', async () => {
      await store.inbox.accept(createMessage('m1'));
      await turn('t1');
      const all = await Promise.all([1, 2, 3].map(() => send(replacing('m2', 'm1'))));
      expect(all.map(({ stored }) => stored).sort()).toEqual(['duplicate', 'duplicate', 'stored']);
      await turn('t2');
      expect(await send(replacing('m2', 'm1'))).toEqual({ stored: 'duplicate', replaced: null });
      expect(await remembered()).toEqual(['m2?', 'm2!']);
      expect(await send(replacing('m3', 'm1'))).toEqual({ stored: 'stored', replaced: [] });
      expect(await remembered()).toEqual(['m2?', 'm2!']);
    });

    it('[U08] transfers the files of the replaced message without storing their bytes again', async () => {
      const first = createMessage('m1');
      const withFile = { ...first.message, attachments: [FILE] };
      await store.inbox.accept({ ...first, message: withFile, files: [BYTES] });
      await turn('t1');
      await send(replacing('m2', 'm1', { text: '' }));
      expect((await store.inbox.recent(CHAT, 9))[1]?.message.attachments).toEqual([FILE]);
      const bytesOf = async (messageId: string) =>
        (await store.attachments.ofChat({ ...CHAT, messageId }, 0))?.bytes;
      expect(new Uint8Array((await bytesOf('m2')) ?? [])).toEqual(BYTES);
      expect(await bytesOf('m1')).toBeUndefined();
    });

    it("[D06] [U08] settles the dead letter of the replaced message's failed turn", async () => {
      await store.inbox.accept(createMessage('m1'));
      await turn('t1', { outcome: 'failed', reason: 'x' });
      expect(await store.deadLetters.openIds(['unanswered'], 0, 9)).toHaveLength(1);
      expect((await send(replacing('m2', 'm1'))).replaced).toContain('m1');
      expect(await store.deadLetters.openIds(['unanswered'], 0, 9)).toEqual([]);
    });

    it('[G04] [U08] prevents a replaced plan from being run', async () => {
      await store.inbox.accept(createMessage('m1'));
      await turn('t1', { isPlan: true });
      expect((await send(replacing('m2', 'm1'))).replaced).toContain('m1');
      const run = store.inbox.command(createMessage('run'), (command) =>
        command.runPlan('t1', 'go'),
      );
      expect(await run).toBe('none');
    });

    it('[U08] does not restore the partial answer of a stopped turn', async () => {
      await store.inbox.accept(createMessage('m1'));
      await startTurn(store, 't1');
      await store.inbox.command(createMessage('stop'), (command) => command.stop());
      expect((await send(replacing('m2', 'm1'))).replaced).toEqual(['m1']);
      const { entries, parts } = createAnswer('t1', ['half']);
      const kept = { conversationId: LANE, turnId: 't1', entries, parts };
      expect(await store.turns.savePartialAnswer(kept, 5)).toBeNull();
      expect(await remembered()).toEqual([]);
    });

    it.each<[string, () => Promise<unknown>, AdmittedMessage?]>([
      ['is not known', async () => turn('t1'), replacing('m2', 'other')],
      [
        'was written by another person',
        async () => turn('t1'),
        replacing('m2', 'm1', { sender: BO }),
      ],
      ['waits', async () => undefined],
      ['is being answered', async () => startTurn(store, 't1')],
      [
        'is not the newest',
        async () => {
          await turn('t1');
          await store.inbox.accept(createMessage('later'));
        },
      ],
      [
        'was answered together with another one',
        async () => {
          await store.inbox.accept(createMessage('too'));
          await turn('t1');
        },
        replacing('m2', 'too'),
      ],
      [
        'has an answer on its way',
        async () => {
          const { lease } = await startTurn(store, 't1');
          await store.lanes.commit(lease, createAnswer('t1', ['half']), 1);
        },
      ],
      [
        'is followed by the words of another turn',
        async () => {
          await startTurn(store, 't1');
          await store.inbox.command(createMessage('stop'), (command) => command.stop());
          await store.inbox.accept(createMessage('m3'));
          await turn('t3');
          const { entries } = createAnswer('t1', ['half']);
          const kept = { conversationId: LANE, turnId: 't1', entries, parts: [] };
          expect(await store.turns.savePartialAnswer(kept, 5)).toEqual([]);
        },
        replacing('m2', 'm3'),
      ],
      [
        'is in a summary',
        async () => {
          await turn('t1');
          const task = { ...PLACE, kind: 'history', mark: '0' } as const;
          await store.summaries.claim(task, { by: 'one', now: 0, claimMs: 9, impatient: true });
          await store.summaries.finish(task, 'one', { content: {}, reaches: 9_999 });
        },
      ],
      [
        'belongs to an earlier session',
        async () => {
          await turn('t1');
          await store.inbox.command(createMessage('new'), (command) => command.startSession());
        },
      ],
      [
        'has a sub-agent at work',
        async () => {
          const { lease } = await startTurn(store, 't1');
          const order = {
            turnId: 't1',
            title: 't',
            task: 't',
            reader: 'owner',
            text: 'w',
          } as const;
          await store.subAgents.start(
            { ...order, id: 'a', callId: 'a' },
            { depth: 2, concurrent: 3 },
            0,
          );
          await store.lanes.commit(lease, createAnswer('t1', []), 1);
        },
      ],
    ])(
      '[U08] does not replace a message that %s, and treats the new one as ordinary',
      async (_case, before, sent = replacing('m2', 'm1')) => {
        await store.inbox.accept(createMessage('m1'));
        await before();
        const history = await store.transcript.recent(LANE, 0, 9);
        expect(await send(sent)).toEqual({ stored: 'stored', replaced: [] });
        expect(await store.transcript.recent(LANE, 0, 9)).toEqual(history);
        const rows = await store.inbox.recent(CHAT, 9);
        expect(rows.map(({ outcome }) => outcome)).not.toContain('replaced');
        expect(
          rows.find((row) => row.message.messageId === 'm2')?.message.replaces,
        ).toBeUndefined();
      },
    );
  });
}
