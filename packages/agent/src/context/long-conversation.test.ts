import { afterEach, describe, expect, it } from 'vitest';
import {
  estimateRequestTokens,
  type LongConversation,
  openLongConversation,
  QUESTION,
} from '../testing/long-conversation.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { Summary } from './summary.ts';

let talk: LongConversation | undefined;
afterEach(async () => {
  await talk?.scene.close();
});

const place = { conversationId: OWNER_CHAT, session: 0 };
const owner = { kind: 'owner', conversationId: OWNER_CHAT } as const;
const order = { ...place, reader: owner, forced: true };
const never = new AbortController().signal;
const chatter = (turn: number) => `Tell me more, number ${turn}: ${'words '.repeat(40)}`;

async function talkFor(turns: number, compacts: boolean): Promise<LongConversation> {
  talk = await openLongConversation({ contextTokens: 8_192, compacts });
  for (let turn = 1; turn <= turns; turn += 1) {
    await talk.say(turn === 3 ? 'Remember: the code is 4711.' : chatter(turn));
  }
  return talk;
}

describe('a conversation of 300 turns', { timeout: 120_000 }, () => {
  it('[G11] stays within its budget, remembers a fact from turn 3, uses tokens linearly and keeps its beginning stable', async () => {
    const { asked, summaries, say, scene } = await talkFor(299, true);
    await say(QUESTION);
    expect((await scene.owed()).at(-1)).toBe('the code is 4711');
    const costs = asked.map(estimateRequestTokens);
    expect(Math.max(...costs)).toBeLessThan(8_192);
    const sum = (from: number, to: number) => costs.slice(from, to).reduce((a, b) => a + b, 0);
    const summing = summaries.map(estimateRequestTokens).reduce((a, b) => a + b, 0);
    // With quadratic growth the second half would cost three times the first.
    expect(sum(150, 300) / sum(0, 150)).toBeLessThan(1.3);
    expect(summing).toBeLessThan(sum(0, 300) / 4);
    let changes = 0;
    for (const [turn, { messages }] of asked.entries()) {
      const before = asked[turn - 1]?.messages.slice(0, -1) ?? [];
      const isPrefix = JSON.stringify(messages.slice(0, before.length)) === JSON.stringify(before);
      if (!isPrefix) changes += 1;
    }
    expect(changes).toBeLessThanOrEqual(summaries.length);
    expect(summaries.length).toBeLessThan(40);
    expect(await scene.store.summaries.latest({ ...place, reader: 'guest' })).toBeNull();
  });

  it('[G11] stays within its budget without summaries as well, but forgets early facts', async () => {
    const { asked, say, scene } = await talkFor(60, false);
    await say(QUESTION);
    expect((await scene.owed()).at(-1)).toBe('I do not know.');
    expect(Math.max(...asked.map(estimateRequestTokens))).toBeLessThan(8_192);
  });
});

describe('a summary', () => {
  it('[G11] is written once even if two workers start at the same time', async () => {
    const { compactor, otherWorker, summaries } = await talkFor(6, true);
    const both = [compactor, otherWorker()].map((one) => one.now(order, never));
    expect((await Promise.all(both)).map(({ kind }) => kind).toSorted()).toEqual(['busy', 'done']);
    expect(summaries).toHaveLength(1);
  });

  it('[G11] leaves everything unchanged when it fails, and can be written later', async () => {
    const { compactor, fail, scene, say } = await talkFor(6, true);
    fail('summary', 1);
    expect(await compactor.now(order, never)).toMatchObject({ kind: 'failed' });
    expect(await scene.store.summaries.latest({ ...place, reader: 'owner' })).toBeNull();
    expect(await compactor.now({ ...order, forced: false }, never)).toMatchObject({
      kind: 'nothing',
    });
    expect(await compactor.now(order, never)).toMatchObject({ kind: 'done' });
    await say(QUESTION);
    expect((await scene.owed()).at(-1)).toBe('the code is 4711');
  });

  it('[G11] includes the earlier summary and continues from it', async () => {
    const { compactor, summaries, scene, say } = await talkFor(6, true);
    await compactor.now(order, never);
    for (let turn = 7; turn < 12; turn += 1) await say(chatter(turn));
    await compactor.now(order, never);
    const record = summaries[1]?.messages[0]?.content ?? '';
    expect(record).toContain('the code is 4711');
    expect(record).not.toContain('number 1:');
    const stored = await scene.store.summaries.latest({ ...place, reader: 'owner' });
    expect(Summary.parse(stored?.content).remembered).toEqual(['the code is 4711']);
  });

  it('[G11] [W02] for an owner is never shown to other readers', async () => {
    const { compactor, otherWorker, summaries } = await talkFor(6, true);
    await compactor.now(order, never);
    const guest = { kind: 'guest', conversationId: OWNER_CHAT } as const;
    await otherWorker().now({ ...order, reader: guest }, never);
    expect(summaries[1]?.messages[0]?.content).not.toContain('Your notes so far');
  });

  it('[G11] is written after memories are saved, and is written even if saving fails', async () => {
    const { otherWorker, scene } = await talkFor(6, true);
    const saved: number[] = [];
    const keeper = otherWorker({
      beforeCompact: async ({ entries, quotes }) => {
        expect(await scene.store.summaries.latest({ ...place, reader: 'owner' })).toBeNull();
        expect(quotes).toEqual(['Remember: the code is 4711.']);
        saved.push(entries.length);
        throw new Error('the disk is full');
      },
    });
    expect(await keeper.now(order, never)).toMatchObject({ kind: 'done', entries: saved[0] });
  });

  it('[G11] can be requested with /compact, which reports the size before and after', async () => {
    const { say, scene, asked } = await talkFor(6, true);
    await say('/compact');
    expect((await scene.owed()).at(-1)).toMatch(
      /^⚙️ .* 8 messages.* tokens\) became notes of about \d+ tokens/s,
    );
    expect(asked).toHaveLength(6);
    await say('/compact');
    expect((await scene.owed()).at(-1)).toContain('nothing more to summarize');
  });

  it('[F09] [G11] answers the text after /compact from the shortened history', async () => {
    const { say, scene, asked } = await talkFor(6, true);
    await say(`/Compact. ${QUESTION}`);
    expect((await scene.owed()).join('\n')).toContain('tokens) became notes of about');
    expect((await scene.owed()).slice(-2).join()).toContain('the code is 4711');
    expect(asked).toHaveLength(7);
  });

  it('[G11] is written when the provider reports that a request is too long, and the turn is retried once', async () => {
    const { say, fail, scene, asked, summaries } = await talkFor(8, true);
    fail('turn', 1);
    await say(QUESTION);
    expect((await scene.owed()).at(-1)).toBe('the code is 4711');
    expect([asked.length, summaries.length]).toEqual([10, 1]);
    fail('turn', 2);
    await say('once more');
    expect((await scene.owed()).at(-1)).toContain('⚙️');
    expect(asked).toHaveLength(12);
  });
});

describe('while a summary is being written', () => {
  /** A conversation of six turns whose summary is written but not stored until `goOn` is called. */
  async function held(): Promise<{ talk: LongConversation; goOn(): Promise<string> }> {
    talk = await openLongConversation({ contextTokens: 8_192 });
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

  it('[G11] turns continue during a summary, and their text stays verbatim', async () => {
    const { talk, goOn } = await held();
    await talk.say('The parrot is called Kim.');
    expect(await goOn()).toBe('done');
    await talk.say(QUESTION);
    expect((await talk.scene.owed()).at(-1)).toBe('the code is 4711');
    const shown = JSON.stringify(talk.asked.at(-1)?.messages);
    expect(shown).toContain('The parrot is called Kim.');
  });

  it('[G11] /new ends the session, so a summary in progress is stored for that session and never shown again', async () => {
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
      (command) => command.startSession(),
    );
    expect(await goOn()).toBe('done');
    await talk.say(QUESTION);
    expect((await talk.scene.owed()).at(-1)).toBe('I do not know.');
    expect(talk.asked.at(-1)?.messages).toHaveLength(1);
  });

  it('[G15] a summary in progress does not bring back text that was forgotten in the meantime', async () => {
    const { talk, goOn } = await held();
    const { scene } = talk;
    const what = { conversations: [OWNER_CHAT], ownersToo: false };
    await scene.store.forgetting.forget({ ...what, phrases: ['the code is 4711'] });
    expect(await goOn()).toBe('failed');
    expect(await scene.store.summaries.latest({ ...place, reader: 'owner' })).toBeNull();
    expect((await talk.otherWorker().now(order, never)).kind).toBe('done');
    const stored = await scene.store.summaries.latest({ ...place, reader: 'owner' });
    expect(JSON.stringify(stored)).not.toContain('4711');
  });

  it('[G15] a summary in progress does not bring back text that was forgotten from the earlier summary', async () => {
    const first = await held();
    await first.goOn();
    const { scene, say, otherWorker } = first.talk;
    for (let turn = 7; turn < 12; turn += 1) await say(`Tell me more, number ${turn}.`);
    const what = { conversations: [OWNER_CHAT], ownersToo: false };
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
