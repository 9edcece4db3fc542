import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { IngressScene, OWNER_CHAT } from '../testing/ingress-scene.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('/why', () => {
  const group = { id: '-9', type: 'group' } as const;
  const why = (change: object) =>
    scene.take(aMessage({ text: '/why', messageId: '50', ...change }));

  it('[D08] tells of the last messages of the chat, without a word of their texts', async () => {
    await scene.take(aMessage({ chat: group, messageId: '1', text: 'secret words' }));
    await scene.take(aMessage({ messageId: '2', text: 'in another chat' }));
    await why({ chat: group, addressed: true });
    const [answer = ''] = await scene.told('-9');
    expect(answer).toContain('(message 1): no answer (nobody addressed the bot).');
    expect(answer).not.toContain('message 2');
    expect(
      JSON.stringify(await scene.store.decisions.stories({ ...OWNER_CHAT, chatId: '-9' }, 9)),
    ).not.toContain('secret');
  });

  it('[D08] tells of what was taken, why, and of floods', async () => {
    for (const messageId of ['1', '2', '3', '4']) await scene.take(aMessage({ messageId }));
    await why({});
    const answer = (await scene.told()).at(-1);
    expect(answer).toContain('taken (written by an owner; in a direct chat); waits for its turn.');
    expect(answer).toContain('(message 4): refused (3 messages of this conversation wait already)');
  });

  it('[D08] tells all stages of one message: named, the last one, or replied to', async () => {
    await scene.take(aMessage({ messageId: '1', text: 'secret words' }));
    await why({ text: '/why 1' });
    await why({ text: '/why last', messageId: '51' });
    await why({ replyTo: { messageId: '1' }, messageId: '52' });
    const answers = await scene.told();
    expect(answers).toHaveLength(3);
    for (const answer of answers) {
      expect(answer).toMatch(/^Message 1: No answer yet: it waits for a worker\./);
      expect(answer).toMatch(/access let in: written by an owner/);
      expect(answer).not.toContain('secret');
    }
  });

  it('[D08] [W02] tells a group of its own messages alone, and without names', async () => {
    await scene.take(aMessage({ chat: group, messageId: '1', addressed: true }));
    await scene.take(aMessage({ messageId: '2' }));
    const { store } = scene;
    const work = { conversationId: 'telegram:default:-9', owner: 'worker_7', leaseMs: 9 };
    const begun = await store.lanes.begin(work, 'collect', 't1', scene.now);
    if (begun.kind !== 'turn') throw new Error(begun.kind);
    const failed = { turnId: 't1', outcome: 'failed', reason: 'host.example is down' } as const;
    const commit = { ...failed, entries: [], parts: [], usage: null };
    await store.lanes.commit(begun.lease, commit, scene.now);
    await why({ chat: group, addressed: true, text: '/why 1' });
    await why({ chat: group, addressed: true, text: '/why 2', messageId: '51' });
    const [own, other] = await scene.told('-9');
    expect(own).toContain('Its turn failed');
    expect(own).not.toMatch(/host\.example|worker_7/);
    expect(other).toBe('I know of no such message. last is the newest one.');
  });

  it('[D08] is for the owner only', async () => {
    await why({ chat: group, addressed: true, sender: { id: '7' } });
    expect(await scene.told('-9')).toEqual(['/why is for my owner only.']);
  });
});
