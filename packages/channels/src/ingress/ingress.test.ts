import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';
import { toConversationId } from './route.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('ingress', () => {
  it('[D01] reports "accepted" only when the message is stored, and wakes its lane after that', async () => {
    const outcome = await scene.receive(createMessage());
    expect(outcome).toEqual({ kind: 'accepted', conversationId: 'telegram:default:42' });
    expect(await scene.inbox()).toEqual(['hello']);
    expect(scene.happened).toEqual([
      'received',
      'inbox-committed',
      'wake telegram:default:42',
      'inbox-changed',
    ]);
  });

  it('[D01] rejects when the message cannot be stored, so that the platform delivers it again', async () => {
    await scene.store.close();
    await expect(scene.receive(createMessage())).rejects.toMatchObject({ name: 'StoreError' });
    expect(scene.happened).toEqual(['received']);
    await scene.open();
  });

  it('[F08] accepts a message once when it is delivered twice, and wakes its lane both times', async () => {
    await scene.receive(createMessage());
    expect(await scene.receive(createMessage())).toEqual({ kind: 'duplicate' });
    expect(await scene.inbox()).toEqual(['hello']);
    expect(scene.happened.filter((line) => line.startsWith('wake'))).toHaveLength(2);
  });

  it('[F11] stores the reply route with the message', async () => {
    const chat = { id: '-9', type: 'thread', threadId: '5' } as const;
    await scene.receive(createMessage({ chat, addressed: true, messageId: '77' }));
    const [row] = await scene.store.inbox.recent({ ...OWNER_CHAT, chatId: '-9' }, 1);
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

  it('[W08] does not let a platform impersonate Parley', async () => {
    await scene.receive(createMessage({ trigger: 'boot' }));
    const [row] = await scene.store.inbox.recent(OWNER_CHAT, 1);
    expect(row?.message).toEqual(createMessage());
  });

  it('[F05] requests roles that a message does not contain, and refuses when the platform does not answer', async () => {
    const access = { ...POLICY.access, groups: 'open', allowRoles: ['r1'] } as const;
    const receive = scene.ingressWith({ access });
    const chat = { id: '-9', type: 'group' } as const;
    let messages = 0;
    const kindWith = async (roles: () => Promise<readonly string[]>, isDirect = false) => {
      messages += 1;
      const place = isDirect ? {} : { chat };
      const about = { ...place, addressed: true, sender: { id: '9' }, messageId: `m${messages}` };
      return (await receive(createMessage(about), CAPABILITIES, { roles })).kind;
    };
    expect(await kindWith(async () => ['r1'])).toBe('accepted');
    expect(await kindWith(async () => ['r2'])).toBe('refused');
    expect(await kindWith(() => Promise.reject(new Error('away')))).toBe('refused');
    // In a direct chat, roles are ignored.
    expect(await kindWith(async () => ['r1'], true)).toBe('refused');
  });

  it('[F01] refuses an invalid message, and reports which adapter has the bug', async () => {
    const broken = { ...createMessage(), messageId: '' };
    await expect(scene.receive(broken)).rejects.toMatchObject({
      code: 'inbound-invalid',
      retryable: false,
    });
  });
});

describe('a stranger in a direct chat', () => {
  const stranger = (id = '9', messageId = '1') =>
    createMessage({ chat: { id }, sender: { id, name: 'Eve' }, messageId, text: 'my secret' });

  it('[F05] is refused, and no part of the message is kept', async () => {
    expect((await scene.receive(stranger())).kind).toBe('refused');
    expect(await scene.inbox({ ...OWNER_CHAT, chatId: '9' })).toEqual([]);
    const words = JSON.stringify(
      await scene.store.outbox.recent({ ...OWNER_CHAT, chatId: '9' }, 9),
    );
    expect(`${words} ${scene.lines.join()}`).not.toContain('secret');
  });

  it('[F05] gets no answer when direct chats are disabled', async () => {
    const access = { ...POLICY.access, direct: 'disabled' as const };
    await scene.ingressWith({ access })(stranger(), CAPABILITIES);
    expect(await scene.told('9')).toEqual([]);
  });

  it('[F05] gets a notice explaining access once an hour, counted separately for each stranger', async () => {
    for (const id of ['1', '2', '3']) await scene.receive(stranger('9', id));
    await scene.receive(stranger('8'));
    expect(await scene.told('9')).toHaveLength(1);
    expect(await scene.told('8')).toHaveLength(1);
    scene.now += 60 * 60_000;
    await scene.receive(stranger('9', '4'));
    const notices = await scene.told('9');
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain('telegram:9');
    expect(scene.happened.filter((line) => line === 'deliver 9')).toHaveLength(2);
  });
});

describe('an album in a group', () => {
  it('[F06] [F08] is one turn with all its pictures when only the first has text', async () => {
    const chat = { id: '-9', type: 'group' } as const;
    const picture = { chat, albumId: 'a', attachments: [{ kind: 'sticker' as const, ref: 'x' }] };
    await scene.receive(
      createMessage({ ...picture, messageId: '1', text: 'look', addressed: true }),
    );
    scene.now += 400;
    await scene.receive(createMessage({ ...picture, messageId: '2', text: '' }));
    const conversationId = toConversationId(createMessage({ chat }));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const claim = () => scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
    expect(await claim()).toEqual({ kind: 'settling', retryInMs: 1_000 });
    const rows = await scene.store.inbox.recent({ ...OWNER_CHAT, chatId: '-9' }, 9);
    expect(rows.map(({ settlesAt }) => settlesAt)).toEqual([1_001_000, 1_001_400]);
  });
});

describe('an album whose text comes last', () => {
  it('[F08] is one turn with all its pictures, none of which becomes group context', async () => {
    const chat = { id: '-9', type: 'group' } as const;
    const picture = { chat, albumId: 'a', attachments: [{ kind: 'sticker' as const, ref: 'x' }] };
    await scene.receive(createMessage({ ...picture, messageId: '1', text: '' }));
    await scene.receive(
      createMessage({ ...picture, messageId: '2', text: 'look', addressed: true }),
    );
    const conversationId = toConversationId(createMessage({ chat }));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const started = await scene.store.lanes.begin(work, 'followup', 'turn-1', scene.now + 60_000);
    const turn = started.kind === 'turn' ? started.turn : undefined;
    expect(turn?.messages.map(({ message }) => message.messageId)).toEqual(['1', '2']);
    expect(turn?.groupContext).toEqual([]);
  });
});

describe('the limits for incoming messages', () => {
  it('[F07] stop answers to automatic replies, and give the reason', async () => {
    const text = 'I am away. I am away.';
    for (let i = 1; i <= 5; i += 1) await scene.receive(createMessage({ messageId: `${i}`, text }));
    expect((await scene.receive(createMessage({ messageId: '6', text }))).kind).toBe('ignored');
    const stories = await scene.store.decisions.stories(OWNER_CHAT, 9);
    expect(stories.map(({ reason }) => reason)).toContainEqual(
      expect.stringContaining('automatic reply'),
    );
  });

  it('[D07] refuse a message that is too long, with a notice at most once a minute', async () => {
    const long = (messageId: string) => createMessage({ messageId, text: 'x'.repeat(31) });
    expect(await scene.receive(long('1'))).toMatchObject({ kind: 'refused' });
    await scene.receive(long('2'));
    expect(await scene.inbox()).toEqual([]);
    const notices = await scene.told();
    expect(notices).toHaveLength(1);
    scene.now += 60_000;
    await scene.receive(long('3'));
    expect(await scene.told()).toHaveLength(2);
    expect(notices[0]).toContain('31');
    expect(notices[0]).toContain('30');
  });

  it("[D07] refuse messages beyond the conversation's limit, with one notice for a flood", async () => {
    for (let i = 1; i <= 8; i += 1)
      await scene.receive(createMessage({ messageId: `${i}`, text: `text ${i}` }));
    expect(await scene.inbox()).toEqual(['text 1', 'text 2', 'text 3']);
    expect(await scene.told()).toHaveLength(1);
    scene.now += 60_000;
    expect(await scene.receive(createMessage({ messageId: '9' }))).toMatchObject({
      kind: 'refused',
    });
    expect(await scene.told()).toHaveLength(2);
  });

  it('[D07] refuse messages beyond the limit of all chats together, with a reason', async () => {
    const limits = { messageCharacters: 30, waitingPerConversation: 3, totalWaiting: 2 };
    const receive = scene.ingressWith({}, {}, { limits });
    const chat = (nth: number) => ({ id: `${nth}`, type: 'direct' }) as const;
    const write = (nth: number) =>
      receive(
        createMessage({ messageId: `${nth}`, chat: chat(nth), text: `text ${nth}` }),
        CAPABILITIES,
      );
    expect((await write(1)).kind).toBe('accepted');
    expect((await write(2)).kind).toBe('accepted');
    expect(await write(3)).toMatchObject({
      kind: 'refused',
      reason: '2 messages in all chats are already waiting',
    });
    expect((await write(1)).kind).toBe('duplicate');
    expect((await scene.told('3')).join()).toContain('messages in other chats are waiting');
    const story = await scene.store.decisions.stories({ ...OWNER_CHAT, chatId: '3' }, 9);
    expect(story).toMatchObject([{ outcome: 'refused' }]);
  });

  it('[D07] give one guest a share of all waiting messages, and reserve slots for owners', async () => {
    const limits = { messageCharacters: 30, waitingPerConversation: 3, totalWaiting: 20 };
    const access = { ...POLICY.access, direct: 'open' } as const;
    const receive = scene.ingressWith({ access }, {}, { limits });
    let nth = 0;
    const write = (sender: string) => {
      nth += 1;
      const chat = { id: `chat ${nth}`, type: 'direct' } as const;
      const from = { id: sender, name: sender, isBot: false };
      const id = `${nth}`;
      return receive(
        createMessage({
          messageId: id,
          chat,
          text: `text ${id}`,
          ...(sender !== '' && { sender: from }),
        }),
        CAPABILITIES,
      );
    };
    const accepted = async (sender: string, count: number) => {
      const outcomes = [];
      for (let sent = 0; sent < count; sent += 1) outcomes.push((await write(sender)).kind);
      return outcomes.filter((kind) => kind === 'accepted').length;
    };
    expect(await accepted('eve', 30)).toBe(12);
    expect(await write('eve')).toMatchObject({ kind: 'refused', bound: 'person' });
    expect(await accepted('bob', 1)).toBe(1);
    for (const guest of ['c', 'd', 'e', 'f']) await accepted(guest, 9);
    expect(await write('bob')).toMatchObject({ kind: 'refused', bound: 'all' });
    expect(await accepted('', 5)).toBe(2);
  });

  it('[D03] [D07] report that a message waits where it may interrupt a turn, but only if it was accepted', async () => {
    const receive = scene.ingressWith({}, {}, { busy: { direct: 'interrupt' } });
    const write = (messageId: string, change = {}) =>
      receive(createMessage({ messageId, text: messageId, ...change }), CAPABILITIES);
    for (const nth of ['1', '2', '3', '4', '3']) await write(nth);
    await write('5', { chat: { id: '-9', type: 'group' }, addressed: true });
    const said = scene.events.filter(({ type }) => type === 'message-waiting');
    expect(said).toHaveLength(3);
  });

  it('[D07] count each conversation separately, and let commands through', async () => {
    for (let i = 1; i <= 4; i += 1) await scene.receive(createMessage({ messageId: `${i}` }));
    const group = { id: '-9', type: 'group' } as const;
    expect((await scene.receive(createMessage({ chat: group, addressed: true }))).kind).toBe(
      'accepted',
    );
    expect(await scene.receive(createMessage({ messageId: '9', text: '/stop' }))).toEqual({
      kind: 'command',
      name: 'stop',
    });
  });
});

describe('a command', () => {
  it('[F09] is answered without lane or model, in the transaction that stores it', async () => {
    await scene.receive(createMessage({ text: '/whoami' }));
    expect(await scene.told()).toEqual([expect.stringContaining('telegram:42')]);
    expect(scene.happened).toEqual(['received', 'inbox-committed', 'deliver 42']);
    expect(await scene.store.lanes.withWork(9, 10_000)).toEqual([]);
  });

  it('[F08] runs once, however often it is delivered', async () => {
    await scene.receive(createMessage({ text: '/new' }));
    expect(await scene.receive(createMessage({ text: '/new' }))).toEqual({ kind: 'duplicate' });
    expect(await scene.told()).toHaveLength(1);
  });

  it('[F09] /stop stops the running turn, drops waiting messages and confirms both', async () => {
    await scene.receive(createMessage({ messageId: '1' }));
    const conversationId = toConversationId(createMessage());
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const held = await scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
    if (held.kind !== 'turn') throw new Error(`no turn: ${held.kind}`);
    await scene.receive(createMessage({ messageId: '2' }));
    await scene.receive(createMessage({ messageId: '3', text: '/stop' }));
    expect(await scene.told()).toEqual(['Stopped. One waiting message was set aside unanswered.']);
    expect(scene.events).toEqual([{ type: 'stop-turn', conversationId }]);
    const outcomes = (await scene.store.inbox.recent(OWNER_CHAT, 9)).map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 2)).toEqual(['stopped', 'stopped']);
  });

  it('[F09] /stop does not stop a newer turn when it is delivered twice', async () => {
    await scene.receive(createMessage({ messageId: '1', text: '/stop' }));
    await scene.receive(createMessage({ messageId: '2' }));
    expect(await scene.receive(createMessage({ messageId: '1', text: '/stop' }))).toEqual({
      kind: 'duplicate',
    });
    expect(scene.events).toHaveLength(1);
    expect(await scene.store.inbox.waiting(toConversationId(createMessage()))).toBe(1);
  });

  it.each([
    ['/help', ['Polly', '/stop', '/whoami']],
    ['/status', ['Polly is here.', 'Model: offline – no model']],
    ['/new', ['fresh start']],
    ['/stop', ['Nothing was running.']],
  ])('[F09] %s answers in full sentences', async (text, words) => {
    await scene.receive(createMessage({ text }));
    const [answer] = await scene.told();
    for (const word of words) expect(answer).toContain(word);
  });

  it("[G12] /status shows the progress of the session's to-dos", async () => {
    const conversationId = toConversationId(createMessage());
    await scene.receive(createMessage({ text: 'hello' }));
    const todos = [
      { text: 'Ask\nBo', state: 'done' },
      { text: 'Book', state: 'open' },
    ] as const;
    await scene.store.todos.replace({ conversationId, session: 0 }, todos, 0);
    await scene.receive(createMessage({ messageId: 's', text: '/status' }));
    const [answer] = await scene.told();
    expect(answer).toContain('To-dos, 1 of 2 done:');
    expect(answer).toMatch(/✅ Ask Bo\n.*⬜ Book/);
    await scene.receive(createMessage({ messageId: 'n', text: '/new' }));
    await scene.receive(createMessage({ messageId: 't', text: '/status' }));
    expect((await scene.told()).at(-1)).not.toContain('To-dos');
  });

  it('[F09] /status shows which model answers, and on which host, only to the owner', async () => {
    const chat = { id: '-100', type: 'group' } as const;
    await scene.receive(createMessage({ text: '/status', chat, addressed: true }));
    const [answer] = await scene.told('-100');
    expect(answer).toContain('Polly is here.');
    expect(answer).not.toContain('Model');
  });
});
