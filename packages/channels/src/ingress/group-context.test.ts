import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';
import { conversationIdOf } from './route.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('what a served group says without addressing the bot', () => {
  const group = { id: '-9', type: 'group' } as const;
  const conversationId = conversationIdOf(aMessage({ chat: group }));
  const heardByNextTurn = async () => {
    await scene.receive(aMessage({ chat: group, messageId: '99', addressed: true }));
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const started = await scene.store.lanes.begin(work, 'collect', 'turn-1', scene.now);
    return started.kind === 'turn' ? started.turn.groupContext : [];
  };

  it('[F06] is kept for the next turn, files by their kind, and wakes nobody', async () => {
    const photo = { kind: 'image', ref: 'x' } as const;
    await scene.receive(aMessage({ chat: group, messageId: '1', text: 'pizza?' }));
    await scene.receive(aMessage({ chat: group, messageId: '2', text: '', attachments: [photo] }));
    expect(scene.happened).toEqual(['received', 'received']);
    expect((await heardByNextTurn()).map(({ text }) => text)).toEqual(['pizza?', '[image]']);
  });

  it('[F05] is not kept of a chat that is refused', async () => {
    const access = { ...POLICY.access, groups: 'allowlist' as const };
    expect(
      await scene.ingressWith({ access })(aMessage({ chat: group, text: 'secret' }), CAPABILITIES),
    ).toMatchObject({
      kind: 'refused',
    });
    expect(await heardByNextTurn()).toEqual([]);
  });
});
