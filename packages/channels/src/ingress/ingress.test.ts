import {
  type DurablePoint,
  type InboundMessage,
  type LiveEvent,
  recordingLogger,
  silentMeter,
} from '@parley/contracts';
import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { CAPABILITIES } from '../testing/capabilities.ts';
import { conversationIdOf } from './conversation-id.ts';
import { createIngress, type IngressDeps, type Receive } from './ingress.ts';
import type { AccountPolicy } from './policy.ts';

const CHAT = { channel: 'telegram', account: 'default', chatId: '42' };
const POLICY: AccountPolicy = {
  access: { direct: 'allowlist', groups: 'open', allow: [], allowGroups: [] },
  activation: 'mention',
  answers: { mentions: 'dead', numbered: false },
};

let store: Store;
let now: number;
let happened: string[];
let codes: string[];
let deps: IngressDeps;
let receive: Receive;
const events: LiveEvent[] = [];
const { log, lines } = recordingLogger();

beforeEach(async () => {
  now = 1_000_000;
  happened = [];
  codes = ['AAAA2222', 'BBBB3333', 'CCCC4444', 'DDDD5555', 'EEEE6666'];
  events.length = 0;
  store = await openStore({ url: 'sqlite::memory:', clock: () => now });
  deps = {
    store,
    lanes: { kick: async (key) => void happened.push(`kick ${key}`) },
    deliver: async ({ chatId }) => void happened.push(`deliver ${chatId}`),
    bus: {
      publish: (event) => {
        events.push(event);
        happened.push(event.type);
      },
      subscribe: () => () => {},
    },
    answersStrangers: true,
    newCode: () => codes.shift() ?? 'ZZZZZZZZ',
    rules: {
      policy: POLICY,
      owners: ['telegram:42'],
      limits: { messageCharacters: 30, waitingPerConversation: 3 },
    },
    situation: () => ({ agentName: 'Polly', model: 'offline – no model' }),
    log,
    meter: silentMeter,
    clock: () => now,
    pass: (point: DurablePoint) => void happened.push(point),
  };
  receive = createIngress(deps);
});
afterEach(() => store.close());

const ingressWith = (policy: Partial<AccountPolicy>, change: Partial<IngressDeps> = {}) =>
  createIngress({
    ...deps,
    ...change,
    rules: { ...deps.rules, policy: { ...POLICY, ...policy } },
  });
const take = (message: InboundMessage) => receive(message, CAPABILITIES);
const inbox = async (chat = CHAT) =>
  (await store.inbox.recent(chat, 100)).map((row) => row.message.text);
const told = async (chat = CHAT) =>
  (await store.outbox.recent(chat, 100)).map(({ part }) => part.body.plain);

describe('ingress', () => {
  it('[D01] says "accepted" only when the message is stored, and wakes its lane after that', async () => {
    const outcome = await take(aMessage());
    expect(outcome).toEqual({ kind: 'accepted', conversationId: 'telegram:default:42' });
    expect(await inbox()).toEqual(['hello']);
    expect(happened).toEqual(['received', 'inbox-committed', 'kick telegram:default:42']);
  });

  it('[D01] rejects when the message cannot be stored, so that the platform brings it again', async () => {
    await store.close();
    await expect(take(aMessage())).rejects.toMatchObject({ name: 'StoreError' });
    expect(happened).toEqual(['received']);
    store = await openStore({ url: 'sqlite::memory:', clock: () => now });
  });

  it('[F08] takes a message that is told twice once, and wakes its lane both times', async () => {
    await take(aMessage());
    expect(await take(aMessage())).toEqual({ kind: 'duplicate' });
    expect(await inbox()).toEqual(['hello']);
    expect(happened.filter((line) => line.startsWith('kick'))).toHaveLength(2);
  });

  it('[F11] fixes the route of the answer with the message', async () => {
    const chat = { id: '-9', type: 'thread', threadId: '5' } as const;
    await take(aMessage({ chat, addressed: true, messageId: '77' }));
    const [row] = await store.inbox.recent({ ...CHAT, chatId: '-9' }, 1);
    expect(row?.route).toEqual({
      channel: 'telegram',
      account: 'default',
      chatId: '-9',
      chatType: 'thread',
      threadId: '5',
      replyToMessageId: '77',
      target: CAPABILITIES.target,
    });
  });

  it('[F01] refuses what an adapter made wrong, and says whose defect it is', async () => {
    const broken = { ...aMessage(), messageId: '' };
    await expect(take(broken)).rejects.toMatchObject({ code: 'inbound-invalid', retryable: false });
  });
});

describe('a stranger in a direct chat', () => {
  const stranger = (id = '9', messageId = '1') =>
    aMessage({ chat: { id }, sender: { id, name: 'Eve' }, messageId, text: 'my secret' });

  it('[F05] is refused, and no word of the message is kept', async () => {
    expect((await take(stranger())).kind).toBe('refused');
    expect(await inbox({ ...CHAT, chatId: '9' })).toEqual([]);
    const words = JSON.stringify(await store.outbox.recent({ ...CHAT, chatId: '9' }, 9));
    expect(`${words} ${lines.join()}`).not.toContain('secret');
  });

  it('[F05] is told nothing where direct chats are disabled', async () => {
    const access = { ...POLICY.access, direct: 'disabled' as const };
    await ingressWith({ access })(stranger(), CAPABILITIES);
    expect(await told({ ...CHAT, chatId: '9' })).toEqual([]);
  });

  it('[F05] is told once an hour how to be let in, each stranger for themselves', async () => {
    for (const id of ['1', '2', '3']) await take(stranger('9', id));
    await take(stranger('8'));
    expect(await told({ ...CHAT, chatId: '9' })).toHaveLength(1);
    expect(await told({ ...CHAT, chatId: '8' })).toHaveLength(1);
    now += 60 * 60_000;
    await take(stranger('9', '4'));
    const notices = await told({ ...CHAT, chatId: '9' });
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain('telegram:9');
    expect(happened.filter((line) => line === 'deliver 9')).toHaveLength(2);
  });
});

describe('a stranger where direct chats are paired', () => {
  const pairing = { access: { ...POLICY.access, direct: 'pairing' as const } };
  const stranger = (id: string, messageId = '1') =>
    aMessage({ chat: { id }, sender: { id, name: 'E`v`e' }, messageId, text: 'my secret' });
  const toldTo = (chatId: string) => told({ ...CHAT, chatId });
  const write = (id: string, messageId?: string) =>
    ingressWith(pairing)(stranger(id, messageId), CAPABILITIES);
  const ownerSays = (text: string, messageId: string) => take(aMessage({ text, messageId }));

  it('[F05] is told a code once while it is valid, and no word of the message is kept', async () => {
    expect((await write('9')).kind).toBe('refused');
    await write('9', '2');
    expect(await toldTo('9')).toEqual([expect.stringContaining('/pair AAAA2222')]);
    now += 60 * 60_000;
    await write('9', '3');
    expect((await toldTo('9')).at(-1)).toContain('/pair CCCC4444');
    expect(await inbox({ ...CHAT, chatId: '9' })).toEqual([]);
    expect(`${JSON.stringify(await store.pairing.pending(now))} ${lines.join()}`).not.toContain(
      'secret',
    );
  });

  it('[F05] waits in a short queue: the fourth is asked to come back', async () => {
    for (const id of ['6', '7', '8']) await write(id);
    await write('9');
    expect(await toldTo('9')).toEqual([expect.stringContaining('too many people')]);
    expect((await store.pairing.pending(now)).map(({ senderId }) => senderId)).toEqual([
      '6',
      '7',
      '8',
    ]);
  });

  it('[F05] is let in for good by the code that an owner types, in any spelling, and told so', async () => {
    await write('9');
    await ownerSays('/pair aaaa-2222', '50');
    expect(await told()).toEqual(['Eve (telegram:9) is let in.']);
    expect((await toldTo('9')).at(-1)).toContain('You are let in');
    expect(happened).toContain('deliver 9');
    now += 365 * 24 * 60 * 60_000;
    expect(await write('9', '2')).toMatchObject({ kind: 'accepted' });
  });

  it('[F05] is not let in by a wrong code, by an old one, or by themselves', async () => {
    await write('9');
    await ownerSays('/pair AAAA2223', '50');
    now += 60 * 60_000;
    await ownerSays('/pair AAAA2222', '51');
    expect((await write('9', '2')).kind).toBe('refused');
    const self = { ...stranger('9', '3'), text: '/pair CCCC4444' };
    expect((await ingressWith(pairing)(self, CAPABILITIES)).kind).toBe('refused');
    expect((await write('9', '4')).kind).toBe('refused');
  });

  it('[F05] is listed by /pair, for the owner alone and in no group', async () => {
    await write('9');
    await ownerSays('/pair', '50');
    expect((await told()).at(-1)).toContain('Eve (telegram:9): /pair AAAA2222');
    const group = { id: '-9', type: 'group' } as const;
    await take(aMessage({ chat: group, addressed: true, text: '/pair', messageId: '51' }));
    await take(
      aMessage({
        chat: group,
        addressed: true,
        text: '/pair',
        messageId: '52',
        sender: { id: '7' },
      }),
    );
    expect(await toldTo('-9')).toEqual([
      expect.stringContaining('direct chat'),
      '/pair is for my owner only.',
    ]);
  });

  it('[F05] gets no answer on a channel that says nothing to strangers; the owner is told once', async () => {
    await ownerSays('/whoami', '50');
    const silent = ingressWith(pairing, { answersStrangers: false });
    for (const id of ['1', '2']) await silent(stranger('9', id), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    const toOwner = (await told()).slice(1);
    expect(toOwner).toEqual([expect.stringContaining('/pair AAAA2222')]);
    expect(happened.filter((line) => line === 'deliver 9')).toEqual([]);
  });

  it('[F05] gets no answer there either when no owner is known, or the allow list decides', async () => {
    await ingressWith(pairing, { answersStrangers: false })(stranger('9'), CAPABILITIES);
    await ingressWith({}, { answersStrangers: false })(stranger('9', '2'), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    expect(await store.pairing.pending(now)).toHaveLength(1);
    expect(lines.join()).not.toContain('telegram:9');
  });

  it('[F05] does not get in when the database cannot say whether they may', async () => {
    await store.close();
    await expect(write('9')).rejects.toMatchObject({ name: 'StoreError' });
    store = await openStore({ url: 'sqlite::memory:', clock: () => now });
  });
});

describe('what a served group says without addressing the bot', () => {
  const group = { id: '-9', type: 'group' } as const;
  const conversationId = conversationIdOf(aMessage({ chat: group }));
  const heardByNextTurn = async () => {
    await take(aMessage({ chat: group, messageId: '99', addressed: true }));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const begun = await store.lanes.begin(work, 'collect', 'turn-1', now);
    return begun.kind === 'turn' ? begun.turn.overheard : [];
  };

  it('[F06] is kept for the next turn, files by their kind, and wakes nobody', async () => {
    const photo = { kind: 'image', ref: 'x' } as const;
    await take(aMessage({ chat: group, messageId: '1', text: 'pizza?' }));
    await take(aMessage({ chat: group, messageId: '2', text: '', attachments: [photo] }));
    expect(happened).toEqual(['received', 'received']);
    expect((await heardByNextTurn()).map(({ text }) => text)).toEqual(['pizza?', '[image]']);
  });

  it('[F05] is not kept of a chat that is refused', async () => {
    const access = { ...POLICY.access, groups: 'allowlist' as const };
    expect(
      await ingressWith({ access })(aMessage({ chat: group, text: 'secret' }), CAPABILITIES),
    ).toMatchObject({
      kind: 'refused',
    });
    expect(await heardByNextTurn()).toEqual([]);
  });
});

describe('the bounds of what is taken', () => {
  it('[D07] tells each time that a message is too long', async () => {
    const long = (messageId: string) => aMessage({ messageId, text: 'x'.repeat(31) });
    expect(await take(long('1'))).toMatchObject({ kind: 'refused' });
    await take(long('2'));
    expect(await inbox()).toEqual([]);
    const notices = await told();
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain('31');
    expect(notices[0]).toContain('30');
  });

  it('[D07] takes no more than may wait, and tells a flood once', async () => {
    for (let i = 1; i <= 8; i += 1) await take(aMessage({ messageId: `${i}`, text: `text ${i}` }));
    expect(await inbox()).toEqual(['text 1', 'text 2', 'text 3']);
    expect(await told()).toHaveLength(1);
    now += 60_000;
    expect(await take(aMessage({ messageId: '9' }))).toMatchObject({ kind: 'refused' });
    expect(await told()).toHaveLength(2);
  });

  it('[D07] counts each conversation for itself, and lets commands through', async () => {
    for (let i = 1; i <= 4; i += 1) await take(aMessage({ messageId: `${i}` }));
    const group = { id: '-9', type: 'group' } as const;
    expect((await take(aMessage({ chat: group, addressed: true }))).kind).toBe('accepted');
    expect(await take(aMessage({ messageId: '9', text: '/stop' }))).toEqual({
      kind: 'command',
      name: 'stop',
    });
  });
});

describe('/why', () => {
  const group = { id: '-9', type: 'group' } as const;
  const why = (change: object) => take(aMessage({ text: '/why', messageId: '50', ...change }));

  it('[D08] tells of the last messages of the chat, without a word of their texts', async () => {
    await take(aMessage({ chat: group, messageId: '1', text: 'secret words' }));
    await take(aMessage({ messageId: '2', text: 'in another chat' }));
    await why({ chat: group, addressed: true });
    const [answer = ''] = await told({ ...CHAT, chatId: '-9' });
    expect(answer).toContain('(message 1): no answer (nobody addressed the bot).');
    expect(answer).not.toContain('message 2');
    expect(
      JSON.stringify(await store.decisions.stories({ ...CHAT, chatId: '-9' }, 9)),
    ).not.toContain('secret');
  });

  it('[D08] tells of what was taken, why, and of floods', async () => {
    for (const messageId of ['1', '2', '3', '4']) await take(aMessage({ messageId }));
    await why({});
    const answer = (await told()).at(-1);
    expect(answer).toContain('taken (written by an owner; in a direct chat); waits for its turn.');
    expect(answer).toContain('(message 4): refused (3 messages of this conversation wait already)');
  });

  it('[D08] is for the owner only', async () => {
    await why({ chat: group, addressed: true, sender: { id: '7' } });
    expect(await told({ ...CHAT, chatId: '-9' })).toEqual(['/why is for my owner only.']);
  });
});

describe('a command', () => {
  it('[F09] is answered without lane or model, in the transaction that stores it', async () => {
    await take(aMessage({ text: '/whoami' }));
    expect(await told()).toEqual([expect.stringContaining('telegram:42')]);
    expect(happened).toEqual(['received', 'inbox-committed', 'deliver 42']);
    expect(await store.lanes.withWork(now, 9)).toEqual([]);
  });

  it('[F08] is carried out once, however often it is told', async () => {
    await take(aMessage({ text: '/new' }));
    expect(await take(aMessage({ text: '/new' }))).toEqual({ kind: 'duplicate' });
    expect(await told()).toHaveLength(1);
  });

  it('[F09] /stop ends what runs, drops what waits and says so', async () => {
    await take(aMessage({ messageId: '1' }));
    const conversationId = conversationIdOf(aMessage());
    const held = await store.lanes.acquire(conversationId, 'w', now, 10_000);
    if (held.kind === 'busy') throw new Error('the lane is busy');
    await store.lanes.claim(held.lease, 'collect', 'turn-1', now);
    await take(aMessage({ messageId: '2' }));
    await take(aMessage({ messageId: '3', text: '/stop' }));
    expect(await told()).toEqual(['Stopped. One message that waited is set aside unanswered.']);
    expect(events).toEqual([{ type: 'stop-turn', conversationId }]);
    const outcomes = (await store.inbox.recent(CHAT, 9)).map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 2)).toEqual(['stopped', 'stopped']);
  });

  it('[F09] /stop that is told twice stops nothing that was asked after it', async () => {
    await take(aMessage({ messageId: '1', text: '/stop' }));
    await take(aMessage({ messageId: '2' }));
    expect(await take(aMessage({ messageId: '1', text: '/stop' }))).toEqual({ kind: 'duplicate' });
    expect(events).toHaveLength(1);
    expect(await store.inbox.waiting(conversationIdOf(aMessage()))).toBe(1);
  });

  it.each([
    ['/help', ['Polly', '/stop', '/whoami']],
    ['/status', ['Polly is here.', 'Model: offline – no model']],
    ['/new', ['fresh start']],
    ['/stop', ['Nothing was running.']],
  ])('[F09] %s answers in words for people', async (text, words) => {
    await take(aMessage({ text }));
    const [answer] = await told();
    for (const word of words) expect(answer).toContain(word);
  });

  it('[F09] /status tells nobody but the owner which model answers, and where', async () => {
    const chat = { id: '-100', type: 'group' } as const;
    await take(aMessage({ text: '/status', chat, addressed: true }));
    const [answer] = await told({ ...CHAT, chatId: '-100' });
    expect(answer).toContain('Polly is here.');
    expect(answer).not.toContain('Model');
  });
});
