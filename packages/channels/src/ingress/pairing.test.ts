import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { CAPABILITIES } from '../testing/capabilities.ts';
import { IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('a stranger where direct chats are paired', () => {
  const pairing = { access: { ...POLICY.access, direct: 'pairing' as const } };
  const stranger = (id: string, messageId = '1') =>
    aMessage({ chat: { id }, sender: { id, name: 'E`v`e' }, messageId, text: 'my secret' });
  const toldTo = (chatId: string) => scene.told(chatId);
  const write = (id: string, messageId?: string) =>
    scene.ingressWith(pairing)(stranger(id, messageId), CAPABILITIES);
  const ownerSays = (text: string, messageId: string) => scene.take(aMessage({ text, messageId }));

  it('[F05] is told a code once while it is valid, and no word of the message is kept', async () => {
    expect((await write('9')).kind).toBe('refused');
    await write('9', '2');
    expect(await toldTo('9')).toEqual([expect.stringContaining('/pair AAAA2222')]);
    scene.now += 60 * 60_000;
    await write('9', '3');
    expect((await toldTo('9')).at(-1)).toContain('/pair CCCC4444');
    expect(await scene.inbox({ ...OWNER_CHAT, chatId: '9' })).toEqual([]);
    expect(
      `${JSON.stringify(await scene.store.pairing.pending(scene.now))} ${scene.lines.join()}`,
    ).not.toContain('secret');
  });

  it('[F05] waits in a short queue: the fourth is asked to come back', async () => {
    for (const id of ['6', '7', '8']) await write(id);
    await write('9');
    expect(await toldTo('9')).toEqual([expect.stringContaining('too many people')]);
    expect((await scene.store.pairing.pending(scene.now)).map(({ senderId }) => senderId)).toEqual([
      '6',
      '7',
      '8',
    ]);
  });

  it('[F05] is let in for good by the code that an owner types, in any spelling, and told so', async () => {
    await write('9');
    await ownerSays('/pair aaaa-2222', '50');
    expect(await scene.told()).toEqual(['Eve (telegram:9) is let in.']);
    expect((await toldTo('9')).at(-1)).toContain('You are let in');
    expect(scene.happened).toContain('deliver 9');
    scene.now += 365 * 24 * 60 * 60_000;
    expect(await write('9', '2')).toMatchObject({ kind: 'accepted' });
  });

  it('[F05] is not let in by a wrong code, by an old one, or by themselves', async () => {
    await write('9');
    await ownerSays('/pair AAAA2223', '50');
    scene.now += 60 * 60_000;
    await ownerSays('/pair AAAA2222', '51');
    expect((await write('9', '2')).kind).toBe('refused');
    const self = { ...stranger('9', '3'), text: '/pair CCCC4444' };
    expect((await scene.ingressWith(pairing)(self, CAPABILITIES)).kind).toBe('refused');
    expect((await write('9', '4')).kind).toBe('refused');
  });

  it('[F05] is listed by /pair, for the owner alone and in no group', async () => {
    await write('9');
    await ownerSays('/pair', '50');
    expect((await scene.told()).at(-1)).toContain('Eve (telegram:9): /pair AAAA2222');
    const group = { id: '-9', type: 'group' } as const;
    await scene.take(aMessage({ chat: group, addressed: true, text: '/pair', messageId: '51' }));
    await scene.take(
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
    const silent = scene.ingressWith(pairing, { answersStrangers: false });
    for (const id of ['1', '2']) await silent(stranger('9', id), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    const toOwner = (await scene.told()).slice(1);
    expect(toOwner).toEqual([expect.stringContaining('/pair AAAA2222')]);
    expect(scene.happened.filter((line) => line === 'deliver 9')).toEqual([]);
  });

  it('[F05] gets no answer there either when no owner is known, or the allow list decides', async () => {
    await scene.ingressWith(pairing, { answersStrangers: false })(stranger('9'), CAPABILITIES);
    await scene.ingressWith({}, { answersStrangers: false })(stranger('9', '2'), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    expect(await scene.store.pairing.pending(scene.now)).toHaveLength(1);
    expect(scene.lines.join()).not.toContain('telegram:9');
  });

  it('[F05] does not get in when the database cannot say whether they may', async () => {
    await scene.store.close();
    await expect(write('9')).rejects.toMatchObject({ name: 'StoreError' });
    await scene.open();
  });
});
