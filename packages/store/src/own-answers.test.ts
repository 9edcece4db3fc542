import type { ReplyRoute } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type ButtonMessage, isPressOnStoredMessage } from './presses.ts';
import type { NewPart } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  startTurn,
} from './testing/messages.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const OWN = 'web:c1';
const BUTTONS = [{ label: 'Approve', data: '/approve ABC234' }];

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`own messages on ${database.name}`, () => {
    let store: Store;
    let sent: number;
    beforeEach(async () => {
      sent = 0;
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    /** Marks all waiting parts of the chat as sent, with the ids p1, p2 … */
    const deliver = async () => {
      for (const { part: waiting } of await store.outbox.unfinished(CHAT, 99)) {
        sent += 1;
        await store.outbox.markSending(waiting.id, 1);
        await store.outbox.markSent(waiting.id, `p${sent}`, 2);
      }
    };
    const own = async (conversationId = OWN, route: ReplyRoute = createTestRoute('c1')) =>
      (await store.outbox.ownAnswers({ conversationId, route }, 20)).map(
        ({ messageId }) => messageId,
      );
    const answered = async (
      turnId: string,
      { conversationId = OWN, threadId = undefined as string | undefined, failed = false } = {},
    ) => {
      const said = createMessage(`of ${turnId}`, 'c1', threadId === undefined ? {} : { threadId });
      await store.inbox.accept({ ...said, conversationId });
      const { lease } = await startTurn(store, turnId, conversationId, `w-${turnId}`);
      const parts = [{ ...createPart(turnId), route: said.route }];
      const outcome = failed ? ('failed' as const) : ('answered' as const);
      await store.lanes.commit(lease, { ...createAnswer(turnId, []), outcome, parts }, 4);
      await store.lanes.release(lease);
      await deliver();
    };
    /** Asks for an approval in the chat, with a button. */
    const asked = async (turnId = 't-asks') => {
      await store.inbox.accept(createMessage(`of ${turnId}`));
      const { lease } = await startTurn(store, turnId, OWN, 'w-asks');
      const question = {
        ...{ code: 'ABC234', turnId, callKey: `${turnId}.0`, tool: 'write', shown: '{}' },
        ...{ askedBy: 'web:u1', place: 'web c1', askedIn: OWN, approvers: [], expiresAt: 9_999 },
      };
      await store.approvals.ask(
        lease,
        question,
        [{ ...createPart('May I?'), buttons: BUTTONS }],
        3,
      );
      await deliver();
    };
    const press = (pressed: string, text = '/approve ABC234') => {
      const { message: typed, ...row } = createMessage(`press of ${pressed} ${text}`);
      const pressing = { ...row, message: { ...typed, text, pressed } };
      const decision = { code: 'ABC234', verdict: 'approved', by: 'web:u1' } as const;
      return store.inbox.command(pressing, async (command) =>
        (await command.pressCounts()) ? command.decideApproval(decision) : 'void',
      );
    };
    const edit = async (turnId: string, partId: string, messageId: string) => {
      const act = { kind: 'edit', messageId } as const;
      const parts: [NewPart] = [{ ...createPart('other'), act }];
      const changes = { partId, how: 'edited' } as const;
      const turn = { id: turnId, most: 10 };
      return store.outbox.post({ key: `${turnId}.e`, turn, parts, changes }, 5);
    };
    const partId = async (text: string) => {
      const rows = await store.outbox.recent(CHAT, 99);
      return rows.find(({ part: { body } }) => body.text === text)?.part.id ?? '';
    };

    it('[G05] lists parts of answers as own messages, newest first, with the people whom they answer', async () => {
      await answered('t1');
      await answered('t2');
      expect(await own()).toEqual(['p2', 'p1']);
      const [newest] = await store.outbox.ownAnswers(
        { conversationId: OWN, route: createTestRoute('c1') },
        1,
      );
      expect(newest).toMatchObject({ messageId: 'p2', people: ['web:u1'] });
    });

    it.each<[what: string, send: () => Promise<unknown>]>([
      ['a question for an approval', () => asked()],
      ['a notice', () => store.outbox.enqueue([createPart('I am back.')], 1)],
      [
        'the answer of a command, such as a code or a link',
        () =>
          store.inbox.command(createMessage('k1'), async (command) =>
            command.answer(createPart('Your code: X')),
          ),
      ],
      [
        'a message to the owner',
        () => store.outbox.post({ key: 'closed', parts: [createPart('A chat is closed.')] }, 1),
      ],
      ['the notice of a failed turn', () => answered('t1', { failed: true })],
      ['an answer of another agent', () => answered('t1', { conversationId: '@bo/web:c1' })],
      ['an answer in another topic', () => answered('t1', { threadId: '7' })],
      ['an answer in another conversation', () => answered('t1', { conversationId: 'web:linked' })],
    ])('[G05] never lists %s as own messages', async (_what, send) => {
      await send();
      await deliver();
      expect(sent).toBe(1);
      expect(await own()).toEqual([]);
    });

    it('[G05] lists own messages separately by agent and topic', async () => {
      await answered('t1');
      await answered('t2', { conversationId: '@bo/web:c1' });
      await answered('t3', { threadId: '7' });
      expect(await own()).toEqual(['p1']);
      expect(await own('@bo/web:c1')).toEqual(['p2']);
      expect(await own(OWN, createTestRoute('c1', '7'))).toEqual(['p3']);
    });

    it('[G05] accepts changes only to sent answers, whatever id is given', async () => {
      await answered('t1');
      await asked();
      expect(await edit('t-asks', await partId('May I?'), 'p2')).toEqual({ kind: 'over' });
      expect(await edit('t-asks', await partId('t1'), 'p1')).toMatchObject({ kind: 'posted' });
      expect(await press('p2')).toMatchObject({ kind: 'decided' });
    });

    it('[G05] accepts a button press only on the message that shows the question', async () => {
      await answered('t1');
      await asked();
      for (const other of ['p1', 'p9']) {
        expect(await press(other)).toBe('void');
      }
      expect(await press('p2', '/approve XYZ789')).toBe('void');
      expect(await press('p2')).toMatchObject({ kind: 'decided' });
    });

    it('[G05] ignores a button press on an edited message', async () => {
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      const plan = { ...createPart('plan'), buttons: BUTTONS };
      await store.lanes.commit(lease, { ...createAnswer('t1', []), parts: [plan] }, 4);
      await store.lanes.release(lease);
      await deliver();
      await asked('t2');
      await edit('t2', await partId('plan'), 'p1');
      expect(await press('p1')).toBe('void');
      expect(await own()).toEqual(['p1']);
    });
  });
}

describe('a button press', () => {
  const data = '/approve ABC234';
  const stored = (more: Partial<ButtonMessage>): ButtonMessage => ({
    messageId: 'p1',
    changed: null,
    data: [data, '/deny ABC234'],
    ...more,
  });
  it.each<[string, readonly ButtonMessage[], boolean]>([
    ['on the question as it was sent counts', [stored({})], true],
    ['on an edited question is ignored', [stored({ changed: 'edited' })], false],
    ['on a deleted question is ignored', [stored({ changed: 'deleted' })], false],
    ['on a message that is not stored is ignored', [], false],
    ['on another message is ignored', [stored({ messageId: 'p2' })], false],
    [
      'of a button that the message does not have is ignored',
      [stored({ data: ['/deny ABC234'] })],
      false,
    ],
    ['on a question whose id is not stored yet counts', [stored({ messageId: null })], true],
    [
      'on an edited message with the button of one that is being sent is ignored',
      [stored({ changed: 'edited' }), stored({ messageId: null })],
      false,
    ],
  ])('[G05] %s', (_where, messages, counts) => {
    expect(isPressOnStoredMessage(messages, { pressed: 'p1', data })).toBe(counts);
  });
  it.each<[string, Partial<ButtonMessage>, string, boolean]>([
    ['with words that were asked for counts', {}, '/answer ABC234 in my words', true],
    ['with words for another question is ignored', {}, '/answer XYZ789 in my words', false],
    ['with a code that only starts the same is ignored', {}, '/answer ABC2345 in my words', false],
    ['without words is ignored', {}, '/answer ABC234', false],
    [
      'with words on an edited question is ignored',
      { changed: 'edited' },
      '/answer ABC234 in my words',
      false,
    ],
    [
      'with words for a button that asks for none is ignored',
      { asks: [] },
      '/answer ABC234 in my words',
      false,
    ],
  ])('[G05] %s', (_what, more, written, counts) => {
    const message = stored({ data: ['/answer ABC234 skip'], asks: ['/answer ABC234'], ...more });
    expect(isPressOnStoredMessage([message], { pressed: 'p1', data: written })).toBe(counts);
  });
});
