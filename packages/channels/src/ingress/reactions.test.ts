import type { InboundReaction } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';
import { describeReaction } from './reactions.ts';
import { toConversationId } from './route.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const GROUP = { id: '-9', type: 'group' } as const;

type Change = Partial<Omit<InboundReaction, 'sender'>> & {
  readonly sender?: Partial<InboundReaction['sender']>;
};

/** The owner's thumbs-up in the direct chat. */
function aReaction({ sender, ...change }: Change = {}): InboundReaction {
  const { channel, account, chat, sender: owner } = createMessage();
  const place = { channel, account, chat, messageId: '7', emojis: ['👍'], sentAt: 1_000 };
  return { ...place, ...change, sender: { ...owner, ...sender } };
}

/** The context that the next turn of a chat gets with its message. */
async function heardByNextTurn(chat: Partial<InboundReaction['chat']> = {}) {
  const message = createMessage({ chat, messageId: '99', addressed: true });
  await scene.receive(message);
  const work = { conversationId: toConversationId(message), owner: 'w', leaseMs: 10_000 };
  const started = await scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
  if (started.kind !== 'turn') throw new Error(`no turn: ${started.kind}`);
  return started.turn.groupContext.map(({ text }) => text);
}

async function botSaid(text: string, messageId: string, threadId?: string): Promise<void> {
  const route = {
    ...OWNER_CHAT,
    chatId: threadId ? GROUP.id : '42',
    ...(threadId && { threadId }),
  };
  const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
  const body = { text: `<b>${text}</b>`, plain: text };
  await scene.store.outbox.enqueue([{ route: { ...route, target }, body }], 0);
  const due = await scene.store.outbox.next(route);
  if (due === null) throw new Error('nothing to send');
  await scene.store.outbox.markSending(due.part.id, 0);
  await scene.store.outbox.markSent(due.part.id, messageId, 0);
}

describe("a person's reaction", () => {
  it("[F06] does not start a turn but becomes context for the next one, with the bot's text", async () => {
    await botSaid('Shall I book the table?', '7');
    await scene.reactedWith()(aReaction());
    expect(scene.happened).toEqual([]);
    expect(await heardByNextTurn()).toEqual([
      '[reacted with 👍 to your message "Shall I book the table?"]',
    ]);
  });

  it('[F06] replaces the previous one when it is changed or removed', async () => {
    const reacted = scene.reactedWith();
    await reacted(aReaction());
    await reacted(aReaction({ messageId: '8', emojis: ['👎'], quoted: 'see you' }));
    await reacted(aReaction({ emojis: ['❤', ':party:'], sentAt: 1_001 }));
    await reacted(aReaction({ messageId: '8', emojis: [], quoted: 'see you', sentAt: 1_002 }));
    expect(await heardByNextTurn()).toEqual([
      '[reacted with ❤ :party: to a message]',
      '[took back the reaction to a message "see you"]',
    ]);
  });

  it('[F06] in a topic goes to the conversation of the message, because only the message names the topic', async () => {
    const topic = { ...GROUP, threadId: '5' };
    await botSaid('in the topic', '7', '5');
    await scene.receive(createMessage({ chat: topic, messageId: '8', text: 'pizza?' }));
    const reacted = scene.reactedWith();
    await reacted(aReaction({ chat: GROUP, sender: { id: '43' } }));
    await reacted(aReaction({ chat: GROUP, messageId: '8', sender: { id: '43' } }));
    await reacted(aReaction({ chat: GROUP, messageId: '9' }));
    expect(await heardByNextTurn(topic)).toEqual([
      'pizza?',
      '[reacted with 👍 to your message "in the topic"]',
      '[reacted with 👍 to the message of Ada "pizza?"]',
    ]);
  });

  it('[F06] [F17] in a topic of a direct chat goes to the conversation of that topic', async () => {
    const topic = { id: '42', type: 'direct', threadId: '5', separate: true } as const;
    await scene.receive(createMessage({ chat: topic, messageId: '8', text: 'pizza?' }));
    await scene.reactedWith()(aReaction({ messageId: '8' }));
    expect(await heardByNextTurn(topic)).toEqual([
      '[reacted with 👍 to their own message "pizza?"]',
    ]);
  });

  it.each<[string, Partial<typeof POLICY>, Change]>([
    ['a stranger', {}, { sender: { id: '66' } }],
    ['a group that is not served', {}, { chat: GROUP }],
    ['a group that is never answered', { activation: 'never' }, { chat: GROUP }],
    ['a bot', {}, { sender: { isBot: true } }],
  ])('[F05] of %s is not stored', async (_, policy, change) => {
    const groups = policy.activation === 'never' ? 'open' : 'allowlist';
    const reacted = scene.reactedWith({ access: { ...POLICY.access, groups }, ...policy });
    await reacted(aReaction(change));
    expect(await heardByNextTurn(change.chat)).toEqual([]);
    expect(await scene.store.reactions.message({ ...OWNER_CHAT, messageId: '7' })).toBeNull();
  });

  it("is refused with an error that names the adapter's bug", async () => {
    const many = Array.from({ length: 21 }, () => '👍');
    const failure = scene.reactedWith()(aReaction({ emojis: many }));
    await expect(failure).rejects.toMatchObject({ code: 'inbound-invalid' });
  });
});

describe('the context line of a reaction', () => {
  const bo = {
    by: 'person',
    senderId: '7',
    senderName: 'Bo',
    text: '',
    conversationId: 'c',
  } as const;
  it.each([
    [{ ...bo, senderId: '42' }, '[reacted with 👍 to their own message]'],
    [
      { ...bo, text: 'x'.repeat(99) },
      `[reacted with 👍 to the message of Bo "${'x'.repeat(80)} …"]`,
    ],
    [{ by: 'agent', text: 'a\n\nb' } as const, '[reacted with 👍 to your message "a b"]'],
    [null, '[reacted with 👍 to a message "of the event"]'],
  ])('names the author of the message: %#', (found, line) => {
    expect(
      describeReaction(aReaction(found === null ? { quoted: 'of the event' } : {}), found),
    ).toBe(line);
  });
});
