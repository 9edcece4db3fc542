import { createAnswerPrinter } from '@parley/channels';
import type { Call, LiveEvent } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { AdmittedMessage, DeadLetterWake, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OperationServices, type OutputOf, performOperation } from './operations.ts';

const PLACE = { channel: 'web', account: 'default' };
const SECRET = 'sk-1234567890';
const printer = createAnswerPrinter();

function message(id: string, text: string): AdmittedMessage {
  return {
    conversationId: 'web:default:c%3A1',
    route: {
      ...PLACE,
      chatId: 'c1',
      target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
    },
    receivedAt: 5,
    message: {
      ...PLACE,
      messageId: id,
      chat: { id: 'c1', type: 'direct' },
      sender: { id: 'u', name: 'Ann', isBot: false },
      text,
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

let store: Store;
const stopped: string[] = [];
const woken: DeadLetterWake[] = [];
let isQueueAway = false;
let lines: readonly string[];
let log: ReturnType<typeof createRecordingLogger>['log'];
let changes = 0;
let memories: readonly object[] = [];
beforeEach(async () => {
  stopped.length = 0;
  woken.length = 0;
  changes = 0;
  memories = [];
  isQueueAway = false;
  ({ log, lines } = createRecordingLogger());
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

type Name =
  | 'list'
  | 'show'
  | 'messages'
  | 'search'
  | 'set-mode'
  | 'set-model'
  | 'new-session'
  | 'stop'
  | 'take-over'
  | 'hand-back'
  | 'reply'
  | 'takeovers'
  | 'rename'
  | 'pin'
  | 'archive'
  | 'mark-read'
  | 'mark-unread'
  | 'begin-inbox'
  | 'contents'
  | 'delete'
  | 'people'
  | 'rewind'
  | 'branch';
const ID = 'web:default:c%3A1';
const CALL = { caller: { name: 'a browser', person: 'Ann', role: 'owner' } } as const;

function ask<N extends Name>(
  name: N,
  input: object,
  call: Call = CALL,
): Promise<OutputOf<`conversations/${N}`>> {
  const services = {
    ...{ store, clock: () => 9, log, defaultAgent: 'main' },
    bus: {
      publish(event: LiveEvent) {
        if (event.type === 'stop-turn') stopped.push(event.conversationId);
        if (event.type === 'inbox-changed') changes += 1;
      },
    },
    scrub: (text: string) => text.replaceAll(SECRET, '[secret]'),
    async wake(to: DeadLetterWake) {
      if (isQueueAway) throw new Error('the queue is away');
      woken.push(to);
    },
    agents: async () => [{ name: 'main', isDefault: true, owners: ['web:boss'] }],
    usage: async () => ({
      dayAt: () => '2026-11-20',
      caps: [{ name: 'perPersonDaily', tokens: 50 }],
    }),
    answerPrinter: async () => printer,
    situation: () => ({ agentName: 'Polly', model: 'm1', models: ['m2'] }),
    memory: async () => ({
      workspace: { for: ({ kind }: { kind: string }) => kind },
      service: { list: async (view: string) => (view === 'owner' ? memories : []) },
    }),
  } as unknown as OperationServices;
  return performOperation<`conversations/${N}`>(services, `conversations/${name}`, input, call);
}

/** Answers a message whose turn called a tool. */
async function answer(id: string): Promise<void> {
  const turnId = `t${id}`;
  const work = { conversationId: ID, owner: 'w', leaseMs: 1_000 };
  const started = await store.lanes.begin(work, 'collect', turnId, 5);
  if (started.kind !== 'turn') throw new Error(started.kind);
  const calls = [{ name: 'exec', arguments: JSON.stringify({ command: `make ${SECRET}` }) }];
  const content = { kind: 'model', calls };
  await store.turns.appendStep(started.lease, turnId, { index: 0, content }, 5);
  const begun = { kind: 'started', call: `${turnId}.0.0` };
  await store.turns.appendStep(started.lease, turnId, { index: 1, content: begun }, 5);
  const entries = ['user', 'assistant'].map((role) => ({
    role: role === 'user' ? ('user' as const) : ('assistant' as const),
    content: { text: `${role} ${id}` },
  }));
  const commit = { turnId, outcome: 'answered', entries, parts: [], usage: null } as const;
  await store.lanes.commit(started.lease, commit, 5);
  await store.lanes.release(started.lease);
}

describe('conversations', () => {
  it('[G23] are rewound to a message, with a list of what stays done and was saved', async () => {
    const from = { channel: 'web', chat: 'c1', message: '2', conversation: ID, session: 0 };
    memories = [
      { name: 'memory/user.md', entry: { id: 'a1', text: 'likes tea', from } },
      {
        name: 'memory/user.md',
        entry: { id: 'b2', text: 'other', from: { ...from, message: '1' } },
      },
    ];
    for (const id of ['1', '2']) {
      await store.inbox.accept(message(id, `text ${id} ${SECRET}`));
      await answer(id);
    }
    expect(await ask('rewind', { id: ID, message: '2' })).toEqual({
      questions: ['text 2 [secret]'],
      effects: [{ tool: 'exec', about: 'make [secret]', state: 'unknown' }],
      memories: [{ file: 'memory/user.md', id: 'a1', text: 'likes tea' }],
      ...{ wasStopped: false, setAside: 0 },
    });
    expect(await ask('messages', { id: ID })).toMatchObject({
      messages: [{ history: 'now' }, { history: 'rewound' }],
    });
    await expect(ask('rewind', { id: ID, message: 'i2' })).rejects.toThrow('no longer sees');
    await store.inbox.accept(message('3', 'text 3'));
    await store.lanes.begin({ conversationId: ID, owner: 'w', leaseMs: 9 }, 'collect', 't3', 5);
    expect(await ask('rewind', { id: ID })).toMatchObject({ wasStopped: true });
    expect(stopped).toEqual([ID]);
    expect(await ask('rewind', { id: ID })).toMatchObject({ memories: [{ id: 'b2' }] });
    await expect(ask('rewind', { id: ID })).rejects.toThrow('nothing to take back');
    await expect(ask('rewind', { id: 'nobody' })).rejects.toThrow('no such conversation');
  });

  it('[G23] are branched into a chat on the page', async () => {
    await store.inbox.accept({ ...message('1', 'text 1'), fromOwner: true });
    await answer('1');
    const { chatId, conversationId } = await ask('branch', { id: ID, requestId: 'r' });
    expect(await ask('branch', { id: ID, requestId: 'r' })).toMatchObject({ chatId });
    const { messages } = await ask('messages', { id: conversationId });
    expect(messages.map(({ text }) => text)).toEqual([
      'user 1',
      'assistant 1',
      expect.stringContaining('This is a copy of Ann up to here'),
    ]);
    const empty = ask('branch', { id: ID, message: '1', requestId: 'r2' });
    await expect(empty).rejects.toThrow('nothing to copy');
    const unknown = ask('branch', { id: ID, message: 'i99', requestId: 'r2' });
    await expect(unknown).rejects.toThrow('no longer sees');
  });

  it('[U08] are listed with the beginning of their text, without secrets', async () => {
    const long = `${'word '.repeat(22)}${SECRET} and more and more and more and more`;
    await store.inbox.accept(message('1', long));
    const text = expect.stringMatching(/^(word ){22}\[secret\].*…$/);
    const first = { title: 'Ann', state: 'waiting', waiting: 1, last: { text } };
    expect(await ask('list', {})).toMatchObject({ conversations: [first], next: null });
  });

  it('[U08] are shown one at a time, with their messages in pages', async () => {
    for (const id of ['1', '2', '3']) await store.inbox.accept(message(id, `text ${id}`));
    expect(await ask('show', { id: ID })).toMatchObject({
      ...{ title: 'Ann', agent: 'Polly', model: null, models: ['m2'], usualModel: 'm1' },
    });
    const page = await ask('messages', { id: ID, limit: '2' });
    expect(page).toMatchObject({ messages: [{ text: 'text 2' }, { text: 'text 3' }] });
    const older = await ask('messages', { id: ID, limit: 2, before: page.next });
    expect(older).toMatchObject({ messages: [{ text: 'text 1' }], next: null });
    await expect(ask('show', { id: 'nobody' })).rejects.toThrow('no such conversation');
  });

  it('[F14] show the names of their agents in lists and in search results', async () => {
    const asked = message('1', 'the garden');
    await store.inbox.accept(asked);
    const conversationId = `@support/${asked.conversationId}`;
    await store.inbox.accept({
      ...{ ...asked, conversationId },
      message: { ...asked.message, messageId: '2' },
    });
    const agents = [{ agent: 'support' }, { agent: 'main' }];
    expect(await ask('list', {})).toMatchObject({ conversations: agents });
    expect(await ask('search', { words: 'garden' })).toMatchObject({ hits: agents });
  });

  it('[U08] can be searched, and excerpts do not contain secrets', async () => {
    await store.inbox.accept(message('1', `the key ${SECRET} of the garden`));
    expect(await ask('search', { words: 'garden' })).toMatchObject({
      hits: [{ excerpt: 'the key [secret] of the garden', title: 'Ann' }],
      ...{ next: null, missing: 0 },
    });
  });

  it("[U12] are shown with the reader's own name for them everywhere", async () => {
    await store.inbox.accept(message('1', 'the garden'));
    await ask('take-over', { conversationId: ID });
    await ask('rename', { id: ID, title: 'Harbor' });
    const ben = { caller: { ...CALL.caller, person: 'Ben' } } as const;
    for (const [call, name] of [
      [CALL, 'Harbor'],
      [ben, null],
    ] as const) {
      const title = name ?? 'Ann';
      expect(await ask('list', {}, call)).toMatchObject({ conversations: [{ name }] });
      expect(await ask('show', { id: ID }, call)).toMatchObject({ name, title: 'Ann' });
      expect(await ask('search', { words: 'garden' }, call)).toMatchObject({ hits: [{ title }] });
      expect(await ask('takeovers', {}, call)).toMatchObject({ entries: [{ title }] });
    }
  });

  it.each<[Name, object]>([
    ['list', { before: 'x' }],
    ['list', { limit: 0 }],
    ['list', { limit: '51' }],
    ['messages', { id: ID, before: '9' }],
    ['messages', { id: ID, until: 'x' }],
    ['search', {}],
    ['search', { words: 'x'.repeat(201) }],
  ])('[U08] reject an invalid query: %s %j', async (name, input) => {
    await expect(ask(name, input)).rejects.toMatchObject({ code: 'wrong-input' });
  });

  it('[U08] can be stopped, restarted and switched to another mode and model', async () => {
    await store.inbox.accept(message('1', 'hello'));
    await ask('set-mode', { id: ID, mode: 'ask' });
    await ask('set-model', { id: ID, model: 'm2' });
    expect(await ask('show', { id: ID })).toMatchObject({ mode: 'ask', model: 'm2', waiting: 1 });
    await ask('stop', { id: ID });
    expect(stopped).toEqual([ID]);
    expect(await ask('show', { id: ID })).toMatchObject({ waiting: 0, state: 'idle' });
    expect(await ask('new-session', { id: ID })).toEqual({ ok: true });
    await expect(ask('new-session', { id: 'nobody' })).rejects.toThrow('no such conversation');
  });

  it("[U12] have a name, a position and a read state in each person's inbox, and pages are notified of changes", async () => {
    await store.inbox.accept(message('1', 'hello'));
    expect(await ask('list', {})).toMatchObject({ isKnownReader: false, marks: [] });
    await ask('begin-inbox', { titles: { [ID]: 'Harbor' }, archived: [ID] });
    await ask('pin', { id: ID });
    await ask('archive', { id: ID, archived: false });
    await ask('mark-unread', { id: ID });
    const mine = { id: ID, title: 'Harbor', isPinned: true, isArchived: false };
    expect(await ask('list', {})).toMatchObject({ isKnownReader: true, marks: [mine] });
    await ask('rename', { id: ID, title: ' ' });
    await ask('mark-read', { id: ID });
    expect(await ask('list', { before: 99 })).toMatchObject({ marks: [] });
    expect((await ask('list', {})).marks).toEqual([{ ...mine, title: null }]);
    expect(changes).toBe(6);
    const bo = { caller: { ...CALL.caller, person: 'Bo' } };
    expect(await ask('list', {}, bo)).toMatchObject({ isKnownReader: false, marks: [] });
    for (const [name, more] of [['rename', { title: 'x' }], ['pin'], ['mark-read']] as const) {
      await expect(ask(name, { id: 'nobody', ...more })).rejects.toThrow('no such conversation');
    }
  });

  it('[U12] list their people, most recent message first, with rights, linked accounts, usage and limit', async () => {
    await store.inbox.accept(message('1', 'hello'));
    const boss = message('2', 'hi');
    const sender = { id: 'boss', name: 'Bo', isBot: false };
    await store.inbox.accept({ ...boss, receivedAt: 7, message: { ...boss.message, sender } });
    const job = message('3', 'a job');
    await store.inbox.accept({ ...job, message: { ...job.message, trigger: 'cron' } });
    const account = { day: '2026-11-20', personId: 'web:u', groupId: null };
    await store.spend.add(account, { inputTokens: 20, outputTokens: 3, costUsd: 0.5 });
    expect((await ask('people', { id: ID })).people).toEqual([
      {
        ...{ person: 'web:boss', name: 'Bo', lastAt: 7, role: 'owner', linked: [], cap: null },
        today: { tokens: 0, costUsd: 0 },
      },
      {
        ...{ person: 'web:u', name: 'Ann', lastAt: 5, role: 'guest', linked: [] },
        ...{ today: { tokens: 23, costUsd: 0.5 }, cap: { tokens: 50 } },
      },
    ]);
    expect(await ask('people', { id: 'nobody' })).toEqual({ people: [] });
  });

  it('[U12] keep pinned conversations on the first page, regardless of their age', async () => {
    await store.inbox.accept(message('1', 'old'));
    await ask('pin', { id: ID });
    const one = message('2', 'new');
    const chat = { ...one.message.chat, id: 'c2' };
    await store.inbox.accept({
      ...{ ...one, conversationId: 'web:default:c2', route: { ...one.route, chatId: 'c2' } },
      message: { ...one.message, chat },
    });
    const page = await ask('list', { limit: 1 });
    expect(page.conversations.map(({ id }) => id)).toEqual(['web:default:c2', ID]);
    const next = await ask('list', { limit: 1, before: page.next });
    expect(next.conversations.map(({ id }) => id)).toEqual([ID]);
  });

  it('[U12] can be deleted only by owners; waiting and running work is deleted as well, and the lane is woken', async () => {
    await store.inbox.accept(message('1', 'hello'));
    const operator = { caller: { ...CALL.caller, role: 'operator' } } as const;
    for (const name of ['contents', 'delete'] as const) {
      await expect(ask(name, { id: ID }, operator)).rejects.toThrow('owner');
    }
    expect(await ask('contents', { id: ID })).toMatchObject({ messages: 1, files: 0 });
    await store.lanes.begin({ conversationId: ID, owner: 'w', leaseMs: 9 }, 'collect', 't1', 0);
    expect(await ask('delete', { id: ID })).toMatchObject({ messages: 1 });
    expect(stopped).toEqual([ID]);
    expect(woken).toEqual([{ kind: 'conversation', conversationId: ID }]);
    expect((await ask('list', {})).conversations).toEqual([]);
    for (const name of ['contents', 'delete', 'show'] as const) {
      await expect(ask(name, { id: ID })).rejects.toMatchObject({ code: 'no-conversation' });
    }
  });

  it('[U12] can be taken over, answered and handed back, and each action is recorded with its author', async () => {
    const conversationId = ID;
    await store.inbox.accept(message('1', 'hello'));
    expect(await ask('take-over', { conversationId })).toEqual({ by: 'Ann', until: 3_600_000 });
    expect(stopped).toEqual([ID]);
    const takenOver = { by: 'Ann', since: 0, until: 3_600_000 };
    expect(await ask('show', { id: ID })).toMatchObject({ takenOver });
    expect(await ask('list', {})).toMatchObject({ conversations: [{ takenOver }] });
    const reply = { conversationId, text: 'Hi', as: 'self', requestId: 'r' };
    expect(await ask('reply', reply)).toMatchObject({ isRepeated: false, answered: 1 });
    expect(await ask('reply', reply)).toMatchObject({ isRepeated: true });
    expect(await ask('messages', { id: ID })).toMatchObject({
      messages: [{ text: 'Ann: Hi', writtenBy: { name: 'Ann', as: 'self' } }, { from: 'Ann' }],
    });
    const nameless = { caller: { name: 'the command line', role: 'owner' } } as const;
    expect(await ask('hand-back', { conversationId }, nameless)).toEqual({ handedBack: true });
    expect(await ask('hand-back', { conversationId })).toEqual({ handedBack: false });
    expect(woken.map(({ kind }) => kind)).toEqual(['chat', 'chat', 'conversation']);
    const { entries } = await ask('takeovers', {});
    expect(entries).toHaveLength(2);
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'takeover',
          by: 'Ann',
          endedBy: 'The owner',
          title: 'Ann',
        }),
        expect.objectContaining({ kind: 'reply', by: 'Ann', as: 'self', agent: 'main' }),
      ]),
    );
  });

  it.each<[Name, object]>([
    ['take-over', {}],
    ['hand-back', {}],
    ['reply', { text: 'Hi', as: 'self', requestId: 'r' }],
    ['takeovers', {}],
  ])('[U12] can be led only by owners: %s', async (name, more) => {
    await store.inbox.accept(message('1', 'hello'));
    const input = name === 'takeovers' ? more : { conversationId: ID, ...more };
    for (const role of ['viewer', 'operator'] as const) {
      const call = { caller: { name: 'Ben', role } };
      await expect(ask(name, input, call)).rejects.toMatchObject({ code: 'role-needed' });
    }
    expect(await ask('show', { id: ID })).toMatchObject({ takenOver: null, waiting: 1 });
  });

  it.each<[Name, object, string]>([
    ['take-over', { minutes: 0 }, 'wrong-input'],
    ['take-over', { minutes: 1_441 }, 'wrong-input'],
    ['take-over', { conversationId: 'nobody' }, 'no-conversation'],
    ['hand-back', { conversationId: 'nobody' }, 'no-conversation'],
    ['reply', { text: '' }, 'wrong-input'],
    ['reply', { text: 'x'.repeat(20_001) }, 'wrong-input'],
    ['reply', { text: '  ' }, 'empty-reply'],
    ['reply', { as: 'someone' }, 'wrong-input'],
    ['reply', { conversationId: 'nobody' }, 'no-conversation'],
  ])('[U12] stay unchanged when a request is refused: %s %j', async (name, more, code) => {
    await store.inbox.accept(message('1', 'hello'));
    const written = name === 'reply' ? { text: 'Hi', as: 'self', requestId: 'r' } : {};
    const input = { conversationId: ID, ...written, ...more };
    await expect(ask(name, input)).rejects.toMatchObject({ code });
  });

  it('[U12] can be answered, handed back and deleted even while the queue is unavailable', async () => {
    const conversationId = ID;
    await store.inbox.accept(message('1', 'hello'));
    await ask('take-over', { conversationId });
    isQueueAway = true;
    const reply = { conversationId, text: 'Hi', as: 'agent', requestId: 'r' };
    expect(await ask('reply', reply)).toMatchObject({ isRepeated: false });
    expect(await ask('hand-back', { conversationId })).toEqual({ handedBack: true });
    expect(await ask('delete', { id: ID })).toMatchObject({ messages: 1 });
    expect(changes).toBe(3);
    const failed = lines.filter((line) => line.includes('the queue is away'));
    expect(failed).toHaveLength(3);
    expect(failed.at(-1)).toContain(ID);
  });

  it("[U12] get a browser's stored names at its first visit, up to a limit", async () => {
    await store.inbox.accept(message('1', 'hello'));
    const titles = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, nth) => [`web:${nth}`, 'x']));
    const named = { titles: { ...titles(499), [ID]: 'Harbor' } };
    expect(await ask('begin-inbox', named)).toEqual({ ok: true });
    expect((await ask('list', {})).marks).toMatchObject([{ id: ID, title: 'Harbor' }]);
    const wrong = { code: 'wrong-input' };
    await expect(ask('begin-inbox', { titles: titles(501) })).rejects.toMatchObject(wrong);
  });

  it('[U12] cannot be taken over or written into if they belong to an API program', async () => {
    const asked = message('1', 'hello');
    const route = { ...asked.route, channel: 'api' };
    await store.inbox.accept({ ...asked, route });
    const conversationId = ID;
    const reply = { conversationId, text: 'Hi', as: 'self', requestId: 'r' };
    await expect(ask('take-over', { conversationId })).rejects.toMatchObject({ code: 'no-chat' });
    await expect(ask('reply', reply)).rejects.toMatchObject({ code: 'no-chat' });
  });

  it.each<[Name, object]>([
    ['set-mode', {}],
    ['set-mode', { mode: 'wild' }],
    ['set-model', { model: 'unknown' }],
  ])('[U08] stay unchanged: %s %j', async (name, input) => {
    await store.inbox.accept(message('1', 'hello'));
    await expect(ask(name, { id: ID, ...input })).rejects.toThrow();
    expect(await ask('show', { id: ID })).toMatchObject({ mode: 'agent', model: null });
  });
});
