import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('linking', () => {
  const other = (text: string, messageId: string, change: object = {}) =>
    scene.ingressWith({ access: { ...POLICY.access, direct: 'open' } })(
      createMessage({ chat: { id: '9' }, sender: { id: '9' }, text, messageId, ...change }),
      CAPABILITIES,
    );
  const link = async () => {
    await scene.receive(createMessage({ text: '/link', messageId: '50' }));
    await other('/link AAAA2222', '51');
    await scene.receive(createMessage({ text: '/link AAAA2222', messageId: '52' }));
  };

  it('[F13] gives an owner’s accounts one conversation, by a code typed in both', async () => {
    expect(await other('before', '1')).toMatchObject({ conversationId: 'telegram:default:9' });
    await link();
    const main = { kind: 'accepted', conversationId: 'linked:AAAA2222' };
    expect(await other('hello', '60')).toEqual(main);
    expect(await scene.receive(createMessage({ messageId: '61' }))).toEqual(main);
    const rows = await scene.store.inbox.recent({ ...OWNER_CHAT, chatId: '9' }, 9);
    expect(rows.at(-1)).toMatchObject({ fromOwner: true, route: { chatId: '9' } });
    expect(rows[0]?.fromOwner).toBeUndefined();
  });

  it('[P18] [F13] is known to the next turn of the notified chat, without the code', async () => {
    await scene.receive(createMessage({ text: '/link', messageId: '50' }));
    await other('/link AAAA2222', '51');
    await scene.receive(createMessage({ text: 'who is that?', messageId: '52' }));
    expect(await scene.knownTo('telegram:default:42')).toEqual([
      expect.stringMatching(/typed your code\. .* send `\/link …` here/),
    ]);
    await scene.receive(createMessage({ text: '/link AAAA2222', messageId: '53' }));
    await other('what now?', '60');
    expect(await scene.knownTo('linked:AAAA2222')).toEqual([
      'Linked: `telegram:42`, `telegram:9`.',
    ]);
  });

  it('[U08] keeps additional chats of either account separate', async () => {
    await link();
    const chat = { id: 'trip-1', separate: true as const };
    expect(await scene.receive(createMessage({ messageId: '62', chat }))).toEqual({
      kind: 'accepted',
      conversationId: 'telegram:default:trip-1',
    });
  });

  it('[F13] makes the other account an owner only between its linking and its removal', async () => {
    await scene.receive(createMessage({ text: '/link', messageId: '50' }));
    await other('/link AAAA2222', '51');
    await other('/pair', '53');
    await scene.receive(createMessage({ text: '/link AAAA2222', messageId: '52' }));
    await other('/pair', '54');
    await scene.receive(createMessage({ text: '/link off telegram:9', messageId: '55' }));
    await other('/pair', '56');
    const answers = (await scene.told('9')).filter((text) =>
      /^\/pair|waiting for access/.test(text),
    );
    expect(answers).toEqual([
      '/pair is for my owner only.',
      'No one is waiting for access.',
      '/pair is for my owner only.',
    ]);
    expect(await other('hello', '60')).toMatchObject({ conversationId: 'telegram:default:9' });
  });

  it('[F13] does not grant rights through a link that no owner has confirmed', async () => {
    const asAGuest = (personId: string, kind: 'make' | 'type', messageId: string) => {
      const action = { kind, code: 'GUEST222' };
      const asker = { personId, isOwner: false };
      const message = createMessage({ messageId });
      const route = { ...OWNER_CHAT, target: CAPABILITIES.target };
      const admitted = { conversationId: 'x', message, route, receivedAt: scene.now };
      return scene.store.inbox.command(admitted, (command) => command.link(asker, action));
    };
    await asAGuest('telegram:42', 'make', '1');
    await asAGuest('telegram:9', 'type', '2');
    expect((await scene.store.links.of('telegram:9'))?.members).toContain('telegram:42');
    await other('/pair', '50');
    expect(await scene.told('9')).toEqual(['/pair is for my owner only.']);
  });

  it("[W02] [F13] leaves groups unchanged: an owner's messages there belong to the group", async () => {
    await link();
    const group = { id: '-9', type: 'group' } as const;
    const asked = await scene.receive(
      createMessage({ chat: group, addressed: true, messageId: '60' }),
    );
    expect(asked).toMatchObject({ conversationId: 'telegram:default:-9' });
    const [row] = await scene.store.inbox.recent({ ...OWNER_CHAT, chatId: '-9' }, 1);
    expect(row?.fromOwner).toBeUndefined();
  });
});
