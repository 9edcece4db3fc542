import type { Timeline } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { AdmittedMessage, Lease } from '../rows.ts';
import type { Store } from '../store.ts';
import { listDatabasesOfDay } from '../testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  startTurn,
} from '../testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' } as const;
const REASON = 'written by an owner; in a direct chat';

/** Creates a message in the chat `c1`, received at `at` and written a little earlier. */
function written(id: string, at: number, more: Partial<AdmittedMessage> = {}): AdmittedMessage {
  const base = createMessage(id, 'c1', { at });
  return {
    ...base,
    message: { ...base.message, sentAt: Math.max(0, at - 5) },
    reason: REASON,
    ...more,
  };
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`why on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    async function timeline(id: string, now = 10_000): Promise<Timeline> {
      const found = await store.why.ask({ message: id }, now);
      if (found.kind !== 'found') throw new Error(`${id}: ${found.kind}`);
      return found.timeline;
    }
    const lines = ({ entries }: Timeline) =>
      entries.map(({ stage, at, ms, text }) => [stage, at, ms, text] as const);
    const stages = ({ entries }: Timeline) => entries.map(({ stage }) => stage);
    const verdict = async (id: string, now?: number) => (await timeline(id, now)).verdict;
    async function begin(turnId: string, now: number): Promise<Lease> {
      const work = { conversationId: 'web:c1', owner: 'worker_1', leaseMs: 1_000 };
      const begun = await store.lanes.begin(work, 'collect', turnId, now);
      if (begun.kind !== 'turn') throw new Error(begun.kind);
      return begun.lease;
    }

    const person = { conversationId: 'web:c1', by: 'Ann' };
    const reply = (text: string, as: 'agent' | 'self' = 'self') =>
      store.takeovers.reply({
        ...{ ...person, as, requestKey: text },
        parts: [createPart(text)],
        entries: () => [{ role: 'user', content: { text } }],
      });

    it('[U12] [D08] reports that a person took over the conversation, answered and handed it back', async () => {
      await store.inbox.accept(written('m1', 1_000));
      database.setTime(2_000);
      await store.takeovers.takeOver({ ...person, lastsMs: 60_000 });
      const before = await timeline('m1', 3_000);
      expect(before.verdict).toBe(
        'No answer yet: it waits because a person has taken the conversation over, for 59 s more.',
      );
      database.setTime(4_000);
      await reply('private', 'agent');
      database.setTime(5_000);
      await store.takeovers.handBack(person.conversationId, 'Ben');
      const told = await timeline('m1', 6_000);
      expect([told.verdict, told.detail]).toEqual([
        'A person wrote the answer in the name of the agent; parts: 1 not sent yet.',
        'by Ann',
      ]);
      expect(lines(told).slice(5)).toEqual([
        ['lane', 1_000, 3_000, 'waited until a person answered'],
        ['lane', 2_000, 3_000, 'a person took the conversation over, for 60 s'],
        ['turn', 4_000, null, 'a person wrote the answer, in the name of the agent'],
        ['outbox', 4_000, null, '1 part added to the outbox'],
        ['outbox', 4_000, 2_000, 'the part: waiting to be sent'],
        ['lane', 5_000, null, 'the conversation was handed back'],
      ]);
      expect(told.entries.map(({ detail }) => detail).filter((detail) => detail)).toEqual([
        ...['by Ann', 'by Ann', 'by Ben'],
      ]);
      expect(JSON.stringify(told)).not.toContain('private');
    });

    it('[U12] [D08] reports who wrote a text that does not answer a message, and that a takeover expired', async () => {
      await store.inbox.accept(written('m1', 0));
      const stored = await reply('private');
      const told = await timeline(stored?.turnId ?? '');
      expect(lines(told)).toEqual([
        ['turn', 0, null, 'a person wrote the answer, under their own name'],
        ['outbox', 0, null, '1 part added to the outbox'],
        ['outbox', 0, 10_000, 'the part: waiting to be sent'],
      ]);
      await store.takeovers.takeOver({ ...person, lastsMs: 1_000 });
      const texts = (await timeline('m1', 2_000)).entries.map(({ text }) => text);
      expect(texts).toContain('the takeover expired');
      // A takeover that begins later is not mentioned.
      database.setTime(3_000);
      await store.inbox.accept(written('m2', 3_000));
      expect((await timeline('m2', 4_000)).entries.map(({ text }) => text)).not.toContain(
        'the takeover expired',
      );
    });

    it("[D08] reports every stage from the platform's message to its receipt, with times", async () => {
      await store.inbox.accept(written('m1', 1_000));
      const lease = await begin('t1', 1_200);
      const model = { kind: 'model', model: 'p/m', inputTokens: 9, outputTokens: 2 } as const;
      const steps = [
        { startedAt: 1_250, facts: { ...model, firstTokenMs: 40, calls: ['read'] } },
        { startedAt: 1_400, facts: { kind: 'tool', tool: 'read', outcome: 'done' } },
        { startedAt: 1_500, facts: { ...model, calls: [], insteadOf: 'p/n' } },
      ] as const;
      for (const [index, timing] of steps.entries()) {
        const ended = timing.startedAt + 90;
        await store.turns.appendStep(lease, 't1', { index, content: 'private', timing }, ended);
      }
      await store.lanes.commit(lease, createAnswer('t1', ['private']), 1_700);
      const due = await store.outbox.next(CHAT);
      const id = due?.part.id ?? '';
      await store.outbox.markSending(id, 1_710);
      await store.outbox.retryLater(id, { now: 2_000, afterMs: 0 }, 'slow down', 'free');
      await store.outbox.markSending(id, 2_000);
      await store.outbox.markSent(id, 'p77', 2_030);
      const told = await timeline('m1');
      expect(told.verdict).toBe('Answered.');
      expect(told.turnId).toBe('t1');
      expect(lines(told)).toEqual([
        ['platform', 995, null, 'written, according to the platform'],
        ['ingress', 1_000, null, 'received'],
        ['access', 1_000, null, 'allowed: written by an owner'],
        ['access', 1_000, null, 'needs an answer: in a direct chat'],
        ['inbox', 1_000, null, 'stored for web:c1'],
        ['lane', 1_000, 200, 'waited for its turn'],
        ['turn', 1_200, null, 'started'],
        ['model', 1_250, 90, 'asked: 9 tokens in, 2 out; first text after 40 ms; calls read'],
        ['tool', 1_400, 90, 'read: done'],
        ['model', 1_500, 90, 'asked: 9 tokens in, 2 out'],
        ['commit', 1_700, null, 'answered, 0.5 s after it was started'],
        ['outbox', 1_700, null, '1 part added to the outbox'],
        ['delivery', null, null, 'the part: delayed until 00:00:02Z'],
        ['delivery', 2_000, 30, 'the part: sent to the platform'],
        ['receipt', 2_030, null, 'the part: delivered as p77'],
      ]);
      const details = told.entries.flatMap(({ detail }) => detail ?? []);
      expect(details).toEqual(['worker_1', 'p/m', 'p/m instead of p/n', 'slow down']);
      expect(JSON.stringify(told)).not.toMatch(/private|text of/);
    });

    it('[D08] reports the exact reason for each silence', async () => {
      const no = { ...CHAT, senderId: 'u2', at: 7, sentAt: 5 };
      await store.decisions.record({ ...no, messageId: 'i', outcome: 'ignored', reason: 'nobody' });
      await store.decisions.record({ ...no, messageId: 'r', outcome: 'refused', reason: 'a list' });
      expect(await verdict('i')).toBe('No answer: nobody.');
      expect(await verdict('r')).toBe('Refused: a list.');
      await store.inbox.command(written('c', 8), async (command) =>
        command.answer(createPart('done')),
      );
      expect(await verdict('c')).toBe('A command, answered at once without the model.');
      expect(stages(await timeline('c')).slice(-2)).toEqual(['outbox', 'outbox']);
      await store.inbox.accept(written('w', 10));
      expect(await verdict('w', 10)).toBe('No answer yet: it waits for a worker.');
      await store.inbox.revise({ ...CHAT, messageId: 'w' }, null);
      expect(await verdict('w')).toBe('No answer: its author deleted it before its turn.');
      await store.inbox.accept(written('b', 10, { settlesAt: 99 }));
      expect(await verdict('b', 20)).toBe(
        'No answer yet: it waits for the rest of an album or a long paste.',
      );
      await store.inbox.command(written('s', 30), (command) => command.stop());
      expect(await verdict('b')).toBe('No answer: /stop set it aside.');
      expect((await timeline('b')).entries.at(-1)).toMatchObject({ stage: 'lane', ms: 20 });
    });

    it('[D08] reports how turns without an answer ended, and which message is waiting behind such a turn', async () => {
      await store.inbox.accept(written('m1', 0));
      let lease = await begin('t1', 100);
      expect(await verdict('m1', 3_100)).toBe(
        'No answer yet: its turn has been running for 3.0 s.',
      );
      await store.inbox.accept(written('m2', 200));
      expect(await verdict('m2', 3_100)).toBe(
        'No answer yet: it waits behind a turn that has been running for 3.0 s.',
      );
      const silent = { ...createAnswer('t1', []), outcome: 'silent', reason: 'NO_REPLY' } as const;
      await store.lanes.commit(lease, silent, 300);
      expect(await verdict('m1')).toBe('No answer: the agent chose to say nothing.');
      await claimNextTurn(store, lease, 't2');
      await store.lanes.commit(lease, { ...createAnswer('t2', ['x']), outcome: 'failed' }, 400);
      expect(await verdict('m2')).toBe('Its turn failed; parts: 1 not sent yet.');
      await store.lanes.release(lease);
      await store.inbox.accept(written('m3', 500));
      lease = await begin('t3', 600);
      await store.lanes.release(lease);
      lease = await begin('t3', 900);
      const again = (await timeline('m3')).entries.filter(({ stage }) => stage === 'turn');
      expect(again.map(({ at, text }) => [at, text])).toEqual([
        [600, 'started'],
        [900, 'resumed by another run'],
      ]);
      const asked = { code: 'ABC234', turnId: 't3', callKey: 'k', tool: 'write', shown: 'private' };
      const place = { place: 'web', askedIn: 'web:c1' };
      const who = { askedBy: 'web:u1', ...place, approvers: [], expiresAt: 9_000 };
      await store.approvals.ask(lease, { ...asked, ...who }, [], 950);
      expect(await verdict('m3')).toBe(
        'No answer yet: its turn waits for an approval of write (ABC234).',
      );
      await store.inbox.accept(written('m4', 960));
      expect(await verdict('m4')).toBe(
        'No answer yet: it waits behind a turn that is waiting for an approval.',
      );
      await store.inbox.command(written('m5', 1_000), (command) => command.stop());
      expect(await verdict('m3')).toBe('No answer: its turn was stopped by /stop.');
      expect(JSON.stringify(await timeline('m3'))).not.toContain('private');
    });

    it('[D08] finds the newest message, or a message by its id, its full name or its turn', async () => {
      await store.inbox.accept(written('m1', 1));
      await store.inbox.accept({ ...createMessage('m1', 'c2', { at: 2 }), reason: REASON });
      await store.inbox.accept(written('m2', 3));
      await store.inbox.command(written('m3', 4), async () => null);
      await begin('t1', 5);
      const ask = (id: string, chat?: typeof CHAT) => store.why.ask({ message: id, chat }, 9);
      const several = await ask('m1');
      expect(several).toMatchObject({
        kind: 'several',
        candidates: [
          { chatId: 'c2', messageId: 'm1' },
          { chatId: 'c1', messageId: 'm1' },
        ],
      });
      const named = (chatId: string, messageId: string) => ({
        kind: 'found',
        timeline: { message: { chatId, messageId } },
      });
      expect(await ask('web:c2/m1')).toMatchObject(named('c2', 'm1'));
      expect(await ask('web/default:c1/m1')).toMatchObject(named('c1', 'm1'));
      expect(await ask('m1', CHAT)).toMatchObject(named('c1', 'm1'));
      expect(await ask('t1')).toMatchObject(named('c1', 'm1'));
      expect(await ask('last')).toMatchObject(named('c1', 'm2'));
      expect(await ask('last', CHAT)).toMatchObject(named('c1', 'm2'));
      expect(await ask('nothing')).toEqual({ kind: 'unknown' });
      expect(await ask('web:c2/m1', CHAT)).toEqual({ kind: 'unknown' });
    });

    it("[D08] [H03] reports a standing task's run only in chats where it sent an alert", async () => {
      const lane = 'beat:main';
      const chat = { id: lane, type: 'direct' } as const;
      const run = async (id: string, alert: string | null) => {
        const asked = createMessage(id, 'c1', { at: 1 });
        const told = { ...asked.message, chat, trigger: 'heartbeat' } as const;
        const order = { id, agent: 'main', task: 'weather', target: 'web:c1' };
        const orderly = { ...order, message: { ...asked, conversationId: lane, message: told } };
        await store.heartbeats.start(orderly, null, 1);
        const {
          lease,
          turn: { turnId },
        } = await startTurn(store, `turn of ${id}`, lane);
        const commit = { turnId, entries: [], parts: [], usage: null } as const;
        const entry = { role: 'assistant', content: 'private' } as const;
        await store.heartbeats.commit(
          lease,
          alert === null
            ? { id, commit: { ...commit, outcome: 'silent' }, state: 'quiet', reason: null }
            : {
                id,
                commit: { ...commit, outcome: 'answered' },
                state: 'alerted',
                reason: null,
                alert: { text: alert, fingerprint: alert, entry, parts: [createPart(alert)] },
              },
          9,
        );
        await store.lanes.release(lease);
      };
      await store.inbox.accept(written('m1', 0));
      await run('quiet', null);
      await run('loud', 'private');
      expect(await verdict('quiet')).toBe('A run of a standing task: nothing to report.');
      expect(await verdict('loud')).toBe(
        'A run of a standing task: an alert; parts: 1 not sent yet.',
      );
      expect((await timeline('loud')).entries.map(({ detail }) => detail)).toContain(
        'the standing task weather',
      );
      expect(JSON.stringify(await timeline('loud'))).not.toContain('private');
      const inChat = async (id: string, chatId: string) =>
        (await store.why.ask({ message: id, chat: { ...CHAT, chatId } }, 9)).kind;
      expect(await inChat('loud', 'c1')).toBe('found');
      expect(await inChat('loud', 'c2')).toBe('unknown');
      expect(await inChat('quiet', 'c1')).toBe('unknown');
      const newest = await store.why.ask({ message: 'last' }, 9);
      expect(newest).toMatchObject({ timeline: { message: { messageId: 'm1' } } });
    });

    it('[D08] [H08] reports that a job has added a message', async () => {
      const { message: words, ...rest } = written('j1', 4);
      const due = { ...rest, message: { ...words, trigger: 'cron' } } as const;
      await store.inbox.accept(written('m1', 1));
      const job = {
        id: 'job_7',
        askedBy: 'call',
        conversationId: 'web:c1',
        route: due.route,
        origin: words,
        fromOwner: true,
        title: 'private',
        task: 'private',
        timetable: { kind: 'every', ms: 60_000, from: 0 },
        nextAt: 3,
      } as const;
      await store.cronJobs.add(job, { perConversation: 2, total: 3 }, 1);
      await store.cronJobs.fire({ id: 'job_7', nextAt: 3 }, due, 60_003, 4);
      const told = await timeline('j1');
      expect(told.entries[0]).toMatchObject({
        text: 'added by Parley: a scheduled job',
      });
      expect(told.entries.map(({ detail }) => detail)).toContain('the job job_7');
      expect(JSON.stringify(told)).not.toContain('private');
    });

    it('[D08] [F08] reports how often the platform redelivered a message', async () => {
      for (const _ of [1, 2, 3]) await store.inbox.accept(written('m1', 1));
      const told = await timeline('m1');
      expect(told.entries.map(({ text }) => text)).toContain(
        'received; sent again 2 times and dropped as a duplicate',
      );
    });

    it('[D06] [D08] reports the outcome of a part that could not be delivered', async () => {
      await store.inbox.accept(written('m1', 0));
      const lease = await begin('t1', 1);
      await store.lanes.commit(lease, createAnswer('t1', ['a', 'b']), 2);
      const due = await store.outbox.next(CHAT);
      await store.outbox.markSending(due?.part.id ?? '', 3);
      await store.outbox.markFailed(due?.part.id ?? '', 'failed', 'blocked', 4, null);
      expect(await verdict('m1')).toBe('Answered; parts: 1 not sent yet, 1 not deliverable.');
      const failed = (await timeline('m1')).entries.find(({ mark }) => mark === 'trouble');
      expect(failed).toMatchObject({
        text: 'part 1 of 2: could not be delivered',
        detail: 'blocked',
      });
      const [letter] = await store.deadLetters.open({ limit: 1 });
      await store.deadLetters.drop(letter?.id ?? 0, 9);
      expect((await timeline('m1')).entries.map(({ text }) => text)).toContain(
        'part 1 of 2: could not be delivered; dropped by the operator',
      );
    });
  });
}
