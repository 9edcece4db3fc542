import type { InboundMessage } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';
import { toConversationId } from './route.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('group messages from before the bot was first addressed', () => {
  const group = { id: '-9', type: 'group' } as const;
  const conversationId = toConversationId(createMessage({ chat: group }));
  const said = (messageId: string, more: Parameters<typeof createMessage>[0] = {}) =>
    createMessage({ chat: group, messageId, text: `text ${messageId}`, ...more });
  const asked = async (
    earlier: () => Promise<readonly InboundMessage[]>,
    { policy = {}, message = said('99', { addressed: true }) } = {},
  ) => {
    await scene.ingressWith(policy)(message, CAPABILITIES, { earlier });
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const started = await scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
    return started.kind === 'turn'
      ? started.turn.groupContext.map(({ senderName, text }) => `${senderName}: ${text}`)
      : [];
  };

  it('[F06] become context of that turn if newer than the last known message, with bots marked', async () => {
    await scene.receive(said('2'));
    const bot = { id: '8', name: 'News', isBot: true };
    const lines = [
      said('1'),
      said('2'),
      said('3', { sender: bot }),
      said('4'),
      said('5', { text: ' ' }),
      said('6', { quotation: { text: 'rain tomorrow', from: 'News' } }),
    ];
    expect(await asked(async () => lines)).toEqual([
      'Ada: text 2',
      'News (bot): text 3',
      'Ada: text 4',
      'Ada: text 6 [Quotes News: rain tomorrow]',
    ]);
  });

  it('[F06] become context once, in the thread that a message starts', async () => {
    const receive = scene.ingressWith({});
    const thread = (id: string) => ({ ...group, type: 'thread', threadId: id }) as const;
    const opens = async (id: string) => {
      const message = said(id, { chat: thread(id), addressed: true });
      await receive(message, CAPABILITIES, { opensThread: true });
      const work = { conversationId: toConversationId(message), owner: 'w', leaseMs: 10_000 };
      const started = await scene.store.lanes.begin(work, 'collect', `turn-${id}`, scene.now);
      return started.kind === 'turn' ? started.turn.groupContext.map(({ text }) => text) : null;
    };
    await receive(said('1'), CAPABILITIES);
    await receive(said('2', { chat: thread('0') }), CAPABILITIES);
    expect(await opens('3')).toEqual(['text 1']);
    expect(await opens('4')).toEqual([]);
  });

  it('[F06] are limited by the settings, and are not kept if the limit is 0', async () => {
    const kept = async (chatId: string, groupContextMessages: number) => {
      const limits = { messageCharacters: 30, waitingPerConversation: 3, totalWaiting: 100 };
      const rule = { limits: { ...limits, groupContextMessages } };
      const receive = scene.ingressWith({}, {}, rule);
      const chat = { id: chatId, type: 'group' } as const;
      for (const id of ['1', '2', '3']) await receive(said(id, { chat }), CAPABILITIES);
      await receive(said('4', { chat, addressed: true }), CAPABILITIES);
      const lane = toConversationId(createMessage({ chat }));
      const work = { conversationId: lane, owner: 'w', leaseMs: 10_000 };
      const started = await scene.store.lanes.begin(work, 'collect', `turn${chatId}`, scene.now);
      return started.kind === 'turn' ? started.turn.groupContext.map(({ text }) => text) : null;
    };
    expect(await kept('-1', 2)).toEqual(['text 2', 'text 3']);
    expect(await kept('-2', 0)).toEqual([]);
  });

  it('[F05] [W02] omit messages by authors without access, and messages from other chats', async () => {
    const access = { ...POLICY.access, groups: 'open' as const, allowRoles: ['r'] };
    const other = { id: '7', name: 'Bo' };
    const lines = [
      said('1', { sender: { ...other, roles: ['x'] } }),
      said('2', { sender: { ...other, roles: ['r'] } }),
      said('3', { chat: { id: '-8', type: 'group' } }),
      said('4'),
    ];
    expect(await asked(async () => lines, { policy: { access } })).toEqual([
      'Bo: text 2',
      'Ada: text 4',
    ]);
  });

  it('[F06] do not cause a delay when the platform does not answer, and are not requested when the settings disable them', async () => {
    expect(await asked(() => Promise.reject(new Error('away')))).toEqual([]);
    let count = 0;
    const earlier = async () => {
      count += 1;
      return [];
    };
    const direct = createMessage({ messageId: '100' });
    await asked(earlier, { message: direct });
    await asked(earlier, { message: said('101') });
    expect(count).toBe(0);
    await expect(scene.inbox()).resolves.toHaveLength(1);
  });
});

describe('messages in a served group that do not address the bot', () => {
  const group = { id: '-9', type: 'group' } as const;
  const conversationId = toConversationId(createMessage({ chat: group }));
  const heardByNextTurn = async () => {
    await scene.receive(createMessage({ chat: group, messageId: '99', addressed: true }));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const started = await scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
    return started.kind === 'turn' ? started.turn.groupContext : [];
  };

  it('[F06] are kept for the next turn, with the kinds of their files, and do not wake a conversation', async () => {
    const photo = { kind: 'image', ref: 'x' } as const;
    await scene.receive(createMessage({ chat: group, messageId: '1', text: 'pizza?' }));
    await scene.receive(
      createMessage({ chat: group, messageId: '2', text: '', attachments: [photo] }),
    );
    expect(scene.happened).toEqual(['received', 'received']);
    expect((await heardByNextTurn()).map(({ text }) => text)).toEqual(['pizza?', '[image]']);
  });

  it('[F06] [F16] are kept with file names and the message they reply to, even after an edit', async () => {
    const message = createMessage({
      chat: group,
      messageId: '1',
      text: 'yes',
      attachments: [{ kind: 'document', name: 'plan.pdf', ref: 'x' }],
      replyTo: { messageId: '0', text: `shall we go? ${'a'.repeat(300)}` },
      quotation: { text: 'rain', from: 'News' },
    });
    await scene.receive(message);
    const { channel, account, messageId } = message;
    const key = { channel, account, chatId: group.id, messageId };
    await scene.store.inbox.revise(key, { ...message, text: 'no' });
    const answered = `shall we go? ${'a'.repeat(187)}… [cut: 200 of 313 characters]`;
    expect((await heardByNextTurn()).map(({ text }) => text)).toEqual([
      `no [document: plan.pdf] [Replies to: ${answered}] [Quotes News: rain]`,
    ]);
  });

  it('[F05] are not kept for a chat that is refused', async () => {
    const access = { ...POLICY.access, groups: 'allowlist' as const };
    expect(
      await scene.ingressWith({ access })(
        createMessage({ chat: group, text: 'secret' }),
        CAPABILITIES,
      ),
    ).toMatchObject({
      kind: 'refused',
    });
    expect(await heardByNextTurn()).toEqual([]);
  });
});
