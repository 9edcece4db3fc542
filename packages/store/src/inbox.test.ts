import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { CommandTransaction } from './commands.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the inbox on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[U08] lists chats newest first, with their first message and the time of the last answer', async () => {
      expect(await store.inbox.chats(CHAT, 9)).toEqual([]);
      const none = async () => null;
      await store.inbox.command(createMessage('m0', 'c1', { at: 1 }), none);
      await store.inbox.accept(createMessage('m1', 'c1', { at: 2 }));
      await store.inbox.command(createMessage('n1', 'c2', { at: 3 }), none);
      await store.inbox.accept(createMessage('m2', 'c1', { at: 4 }));
      await store.outbox.enqueue([createPart('said')], 7);
      expect(await store.inbox.chats(CHAT, 9)).toMatchObject([
        { chatId: 'c1', at: 4, answeredAt: 7, first: { messageId: 'm1' } },
        { chatId: 'c2', at: 3, answeredAt: 0, first: { messageId: 'n1' } },
      ]);
      expect(await store.inbox.chats(CHAT, 1)).toHaveLength(1);
    });

    it('[F09] counts the commands that people typed recently, by name', async () => {
      expect((await store.inbox.typedCommands()).size).toBe(0);
      const typed = [
        '/plan_trip Rome',
        '/Plan-Trip',
        ' /tea',
        'see /tea',
        'a "/tea"',
        '/etc/hosts',
      ];
      for (const [nth, text] of typed.entries()) {
        const admitted = createMessage(`m${nth}`);
        await store.inbox.accept({ ...admitted, message: { ...admitted.message, text } });
      }
      expect([...(await store.inbox.typedCommands())]).toEqual([
        ['plan_trip', 2],
        ['tea', 1],
      ]);
    });

    describe('accepting', () => {
      it('[D01] stores messages unchanged and in order', async () => {
        await store.inbox.accept(createMessage('m1', 'c1', { at: 1_763_700_000_001 }));
        await store.inbox.accept(createMessage('m0', 'c1', { at: 5, threadId: 't9' }));
        const rows = await store.inbox.recent(CHAT, 10);
        expect(rows).toEqual([
          {
            ...createMessage('m1', 'c1', { at: 1_763_700_000_001 }),
            seq: expect.any(Number),
            outcome: null,
            turnId: null,
          },
          {
            ...createMessage('m0', 'c1', { at: 5, threadId: 't9' }),
            seq: expect.any(Number),
            outcome: null,
            turnId: null,
          },
        ]);
        expect(rows[1]?.seq).toBeGreaterThan(rows[0]?.seq ?? Number.POSITIVE_INFINITY);
      });

      it('[F08] stores a message once, even when several copies arrive at the same time', async () => {
        const results = await Promise.all(
          Array.from({ length: 50 }, () => store.inbox.accept(createMessage('m1'))),
        );
        expect(results.filter((result) => result === 'stored')).toHaveLength(1);
        expect(results.filter((result) => result === 'duplicate')).toHaveLength(49);
        expect(await store.inbox.waiting('web:c1')).toBe(1);
      });

      it("[F08] recognizes a duplicate after a restart and after the message's turn", async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        await store.lanes.commit(lease, createAnswer('t1', ['hi']), 1);
        await store.close();
        const again = await openStore({ url: database.url(), clock: () => 0 });
        expect(await again.inbox.accept(createMessage('m1'))).toBe('duplicate');
        expect(await again.inbox.waiting('web:c1')).toBe(0);
        await again.close();
      });

      it('treats messages with the same id in different chats or accounts as different', async () => {
        const other = createMessage('m1', 'c2');
        const account = { ...other, message: { ...other.message, account: 'second' } };
        expect(await store.inbox.accept(createMessage('m1', 'c1'))).toBe('stored');
        expect(await store.inbox.accept(other)).toBe('stored');
        expect(await store.inbox.accept(account)).toBe('stored');
      });

      it('[D07] accepts only as many messages as there is capacity for, even when many arrive simultaneously', async () => {
        const taken = await Promise.all(
          Array.from({ length: 10 }, (_, i) => store.inbox.accept(createMessage(`m${i}`), 3)),
        );
        expect(taken.filter((outcome) => outcome === 'stored')).toHaveLength(3);
        expect(taken.filter((outcome) => outcome === 'full')).toHaveLength(7);
        expect(await store.inbox.waiting('web:c1')).toBe(3);
      });

      it('[D07] [F08] recognizes a stored message even when the lane is full', async () => {
        await store.inbox.accept(createMessage('m1'), 1);
        expect(await store.inbox.accept(createMessage('m1'), 1)).toBe('duplicate');
      });

      it('counts the waiting messages of one lane, and returns the newest rows oldest first', async () => {
        for (const id of ['m1', 'm2', 'm3']) await store.inbox.accept(createMessage(id));
        await store.inbox.accept(createMessage('m1', 'c2'));
        expect(await store.inbox.waiting('web:c1')).toBe(3);
        expect(await store.inbox.waiting('web:nobody')).toBe(0);
        const rows = await store.inbox.recent(CHAT, 2);
        expect(rows.map((row) => row.message.messageId)).toEqual(['m2', 'm3']);
      });
    });

    describe("an owner's last chats", () => {
      const fromOwner = (id: string, chatId: string) => ({
        ...createMessage(id, chatId),
        fromOwner: true,
      });

      it("[W08] finds the last message in each of an owner's direct chats, newest first", async () => {
        expect(await store.inbox.ownerChats()).toEqual([]);
        await store.inbox.accept(createMessage('m1', 'stranger'));
        await store.inbox.accept(fromOwner('m1', 'a'));
        await store.inbox.accept(fromOwner('m1', 'b'));
        await store.inbox.accept(fromOwner('m2', 'a'));
        await store.inbox.accept(createMessage('m2', 'stranger'));
        const rows = await store.inbox.ownerChats();
        expect(rows).toEqual([
          { ...fromOwner('m2', 'a'), seq: expect.any(Number) },
          { ...fromOwner('m1', 'b'), seq: expect.any(Number) },
        ]);
      });

      it("[W08] includes commands in an owner's last messages", async () => {
        await store.inbox.command(fromOwner('m1', 'a'), async () => null);
        expect(await store.inbox.ownerChats()).toHaveLength(1);
      });
    });

    describe('a command in the inbox', () => {
      const send = <T>(id: string, run: (command: CommandTransaction) => Promise<T>) =>
        store.inbox.command(createMessage(id), async (command) => {
          const done = await run(command);
          command.answer(createPart(JSON.stringify(done)));
          return done;
        });
      const stop = (id: string, senderId?: string) =>
        send(id, async (command) => {
          const { stoppedTurn, setAside } = await command.stop(senderId);
          return { stoppedTurn, setAside };
        });

      it('stores a command as done together with its answer, in one transaction', async () => {
        expect(await send('m1', async () => 'done')).toBe('done');
        expect(await store.inbox.waiting('web:c1')).toBe(0);
        expect((await store.inbox.recent(CHAT, 1))[0]?.outcome).toBe('command');
        expect((await store.outbox.next(CHAT))?.part).toMatchObject({
          turnId: null,
          body: { text: '"done"' },
        });
      });

      it('does not store a command if its answer cannot be built', async () => {
        const failing = store.inbox.command(createMessage('m1'), async (command) => {
          await command.stop();
          throw new Error('no words');
        });
        await expect(failing).rejects.toThrow('no words');
        expect(await store.inbox.recent(CHAT, 1)).toEqual([]);
        expect(await store.inbox.accept(createMessage('m1'))).toBe('stored');
      });

      it('[F08] runs and answers a command only once when it arrives twice', async () => {
        await store.inbox.accept(createMessage('m1'));
        await stop('m2');
        await store.inbox.accept(createMessage('m3'));
        const { lease } = await startTurn(store, 't1');
        expect(await stop('m2')).toBeNull();
        expect(await store.lanes.commit(lease, createAnswer('t1', ['still here']), 1)).toBe(
          'committed',
        );
        const texts = (await store.outbox.recent(CHAT, 9)).map((entry) => entry.part.body.text);
        expect(texts).toEqual(['{"stoppedTurn":null,"setAside":1}', 'still here']);
      });

      it('/new starts a session without affecting running or waiting work', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        await send('m2', (command) => command.startSession());
        await store.lanes.commit(lease, createAnswer('t1', ['old']), 1);
        await store.inbox.accept(createMessage('m3'));
        const next = await claimNextTurn(store, lease, 't2');
        expect(next.session).toBe(1);
        expect(await store.transcript.recent('web:c1', 0, 9)).toHaveLength(1);
        expect(await store.transcript.recent('web:c1', 1, 9)).toEqual([]);
      });

      it('/stop ends the running turn, sets waiting messages aside and leaves later messages', async () => {
        await store.inbox.accept(createMessage('m1'));
        await startTurn(store, 't1');
        await store.inbox.accept(createMessage('m2'));
        await store.inbox.accept(createMessage('m3'));
        const result = await send('m4', (command) => command.stop());
        await store.inbox.accept(createMessage('m5'));

        expect(result).toEqual({ stoppedTurn: 't1', setAside: 2, stoppedSubAgents: [] });
        const outcomes = (await store.inbox.recent(CHAT, 9)).map((row) => row.outcome);
        expect(outcomes).toEqual(['stopped', 'stopped', 'stopped', 'command', null]);
        expect((await store.turns.totals(0)).stopped).toBe(1);
      });

      it('[D02] /stop fences the worker and immediately frees the lane for another worker', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease: fenced } = await startTurn(store, 't1');
        await stop('m2');
        await store.inbox.accept(createMessage('m3'));

        expect(await store.lanes.renew([fenced], 5_000)).toEqual({ renewed: [], busy: [] });
        expect(await store.turns.appendStep(fenced, 't1', { index: 0, content: 1 }, 1)).toBe(
          'fenced',
        );
        expect(await store.lanes.commit(fenced, createAnswer('t1', ['late']), 1)).toBe('fenced');
        expect(await store.lanes.claim(fenced, 'collect', 't2', 1)).toEqual({ kind: 'fenced' });
        const { turn: next } = await startTurn(store, 't3', 'web:c1', 'w2');
        expect(next.resumed).toBe(false);
        expect(listMessageIds(next)).toEqual(['m3']);
        const texts = (await store.outbox.recent(CHAT, 9)).map((entry) => entry.part.body.text);
        expect(texts).toEqual(['{"stoppedTurn":"t1","setAside":0}']);
      });

      it("[F05] /stop does not affect other people's work if the sender may stop only their own", async () => {
        const by = (id: string, sender: string) => {
          const admitted = createMessage(id);
          const { message: written } = admitted;
          return {
            ...admitted,
            message: { ...written, sender: { ...written.sender, id: sender } },
          };
        };
        const ownStop = (id: string) => stop(id, 'u2');
        await store.inbox.accept(by('m1', 'u1'));
        await store.inbox.accept(by('m2', 'u2'));
        const { lease } = await startTurn(store, 't1');
        await store.inbox.accept(by('m3', 'u1'));
        await store.inbox.accept(by('m4', 'u2'));
        expect(await ownStop('s1')).toMatchObject({ stoppedTurn: null, setAside: 1 });
        expect(await store.lanes.commit(lease, createAnswer('t1', ['for both']), 1)).toBe(
          'committed',
        );
        expect(listMessageIds(await claimNextTurn(store, lease, 't2'))).toEqual(['m3']);
        expect(await ownStop('s2')).toMatchObject({ stoppedTurn: null, setAside: 0 });
        await store.lanes.commit(lease, createAnswer('t2', ['for u1']), 1);
        await store.inbox.accept(by('m5', 'u2'));
        await claimNextTurn(store, lease, 't3');
        expect(await ownStop('s3')).toMatchObject({ stoppedTurn: 't3', setAside: 0 });
        expect(await store.lanes.commit(lease, createAnswer('t3', ['late']), 1)).toBe('fenced');
      });

      it('/stop has no effect in an idle or unknown chat', async () => {
        expect(await stop('m1')).toMatchObject({ stoppedTurn: null, setAside: 0 });
      });
    });
  });
}
