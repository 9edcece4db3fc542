import { afterEach, describe, expect, it } from 'vitest';
import { type LongTalk, openLongTalk, QUESTION } from '../testing/long-talk.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';

let talk: LongTalk | undefined;
afterEach(async () => {
  await talk?.scene.close();
});

const place = { conversationId: OWNER_CHAT, session: 0 };
const owner = { kind: 'owner', conversationId: OWNER_CHAT } as const;
const order = { ...place, reader: owner, forced: true };
const never = new AbortController().signal;

/** Six turns, and a summary of them that is written but not stored until it is let go on. */
async function held(): Promise<{ talk: LongTalk; goOn(): Promise<string> }> {
  talk = await openLongTalk({ contextTokens: 8_192 });
  await talk.say('Remember: the code is 4711.');
  for (let turn = 2; turn <= 6; turn += 1) await talk.say(`Tell me more, number ${turn}.`);
  const written = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const worker = talk.otherWorker({
    beforeCompact: async () => {
      written.resolve();
      await letGo.promise;
    },
  });
  const running = worker.now(order, never);
  await written.promise;
  const goOn = async () => {
    letGo.resolve();
    return (await running).kind;
  };
  return { talk, goOn };
}

describe('while a conversation is summarized', () => {
  it('[G11] turns go on, and what they say stays word for word', async () => {
    const { talk, goOn } = await held();
    await talk.say('The parrot is called Kim.');
    expect(await goOn()).toBe('done');
    await talk.say(QUESTION);
    expect((await talk.scene.owed()).at(-1)).toBe('the code is 4711');
    const shown = JSON.stringify(talk.asked.at(-1)?.messages);
    expect(shown).toContain('The parrot is called Kim.');
  });

  it('[G11] /new ends the session: its summary is stored for it and never shown again', async () => {
    const { talk, goOn } = await held();
    const command = {
      ...PLACE,
      messageId: 'new',
      chat: { id: OWNER_CHAT, type: 'direct' } as const,
    };
    await talk.scene.store.inbox.command(
      {
        conversationId: OWNER_CHAT,
        receivedAt: 0,
        route: {
          ...PLACE,
          chatId: OWNER_CHAT,
          target: { dialect: 'plain', maxLength: 9, unit: 'utf16' },
        },
        message: {
          ...command,
          sender: { id: '1', name: 'Ada', isBot: false },
          text: '/new',
          mentions: [],
          addressed: true,
          sentAt: 0,
          variables: {},
        },
      },
      { kind: 'new-session' },
      () => [],
    );
    expect(await goOn()).toBe('done');
    await talk.say(QUESTION);
    expect((await talk.scene.owed()).at(-1)).toBe('I do not know.');
    expect(talk.asked.at(-1)?.messages).toHaveLength(1);
  });

  it('[G15] what is forgotten meanwhile does not come back with the summary', async () => {
    const { talk, goOn } = await held();
    const { scene } = talk;
    const what = { conversations: [OWNER_CHAT], ownersToo: false, mark: '[forgotten]' };
    await scene.store.forgetting.forget({ ...what, phrases: ['the code is 4711'] });
    expect(await goOn()).toBe('failed');
    expect(await scene.store.summaries.latest({ ...place, reader: 'owner' })).toBeNull();
    expect((await talk.otherWorker().now(order, never)).kind).toBe('done');
    const stored = await scene.store.summaries.latest({ ...place, reader: 'owner' });
    expect(JSON.stringify(stored)).not.toContain('4711');
  });

  it('[G15] nor what is forgotten of the notes before', async () => {
    const first = await held();
    await first.goOn();
    const { scene, say, otherWorker } = first.talk;
    for (let turn = 7; turn < 12; turn += 1) await say(`Tell me more, number ${turn}.`);
    const what = { conversations: [OWNER_CHAT], ownersToo: false, mark: '[forgotten]' };
    const worker = otherWorker({
      beforeCompact: async () => {
        await scene.store.forgetting.forget({ ...what, phrases: ['the code is 4711'] });
      },
    });
    expect((await worker.now(order, never)).kind).toBe('failed');
    const stored = await scene.store.summaries.latest({ ...place, reader: 'owner' });
    expect(JSON.stringify(stored)).not.toContain('4711');
  });
});
