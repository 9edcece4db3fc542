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

  it('[D08] is for the owner only', async () => {
    await why({ chat: group, addressed: true, sender: { id: '7' } });
    expect(await scene.told('-9')).toEqual(['/why is for my owner only.']);
  });
});
