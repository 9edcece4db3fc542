import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { CAPABILITIES } from '../testing/capabilities.ts';
import { IngressScene, POLICY } from '../testing/ingress-scene.ts';
import type { SoulAsker, SoulDesk } from './soul-desk.ts';

let scene: IngressScene;
let asked: { readonly asker: SoulAsker; readonly argument: string }[];
beforeEach(async () => {
  asked = [];
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const DESK: SoulDesk = {
  async answer(asker, argument) {
    asked.push({ asker, argument });
    return 'SOUL.md says who I am.';
  },
};

/** Somebody (42 is the owner) writes; what they are told. */
async function write(
  text: string,
  sender: string,
  { inGroup = false, desk }: { readonly inGroup?: boolean; readonly desk?: SoulDesk } = {},
): Promise<string | undefined> {
  const chat = inGroup ? ({ id: '-5', type: 'group', title: 'Team' } as const) : { id: sender };
  const access = { ...POLICY.access, direct: 'open' } as const;
  const receive = scene.ingressWith({ access }, { soulDesk: desk });
  await receive(
    aMessage({ messageId: 'm1', text, chat, sender: { id: sender }, addressed: true }),
    CAPABILITIES,
  );
  return (await scene.told(chat.id)).at(-1);
}

describe('/soul', () => {
  it('[W06] [F09] is answered to the owner alone with the agent, with a name for the order', async () => {
    expect(await write('/soul veto 3', '42', { desk: DESK })).toBe('SOUL.md says who I am.');
    expect(asked).toMatchObject([{ asker: { person: 'telegram:42' }, argument: 'veto 3' }]);
    expect(asked[0]?.asker.messageId).toContain('m1');
  });

  it.each([
    ['somebody else', '7', false, '/soul is for my owner only.'],
    ['somebody else in a group', '7', true, '/soul is for my owner only.'],
    ['the owner in a group', '42', true, 'Please send me /soul in a direct chat'],
  ] as const)(
    '[W06] [F09] is not for %s, and nothing is done',
    async (_, sender, inGroup, words) => {
      expect(await write('/soul apply 3', sender, { inGroup, desk: DESK })).toContain(words);
      expect(asked).toEqual([]);
    },
  );

  it('[W06] says so where nobody keeps a soul', async () => {
    expect(await write('/soul', '42')).toContain('nobody here who keeps');
  });
});
