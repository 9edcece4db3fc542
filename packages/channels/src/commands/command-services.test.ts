import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';
import type { CommandService, CommandServices, ServiceCommandSender } from './command.ts';

let scene: IngressScene;
let asked: { readonly asker: ServiceCommandSender; readonly argument: string }[];
beforeEach(async () => {
  asked = [];
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const answer =
  (words: string): CommandService =>
  async (asker, argument) => {
    asked.push({ asker, argument });
    return words;
  };
const SERVICES: CommandServices = {
  soul: answer('SOUL.md says who I am.'),
  heartbeat: answer('Heartbeat: on.'),
  statusLine: async () => 'Heartbeat: next 14:30, 3 tasks',
};

/** Sends a text (42 is the owner) and returns the answer. */
async function write(
  text: string,
  sender: string,
  {
    inGroup = false,
    services,
  }: { readonly inGroup?: boolean; readonly services?: CommandServices } = {},
): Promise<string | undefined> {
  const chat = inGroup ? ({ id: '-5', type: 'group', title: 'Team' } as const) : { id: sender };
  const access = { ...POLICY.access, direct: 'open' } as const;
  const receive = scene.ingressWith({ access }, { commandServices: () => services ?? {} });
  await receive(
    createMessage({ messageId: 'm1', text, chat, sender: { id: sender }, addressed: true }),
    CAPABILITIES,
  );
  return (await scene.told(chat.id)).at(-1);
}

describe('/soul', () => {
  it("[W06] [F09] answers the owner in a direct chat, and passes the message's id to the service", async () => {
    expect(await write('/soul veto 3', '42', { services: SERVICES })).toBe(
      'SOUL.md says who I am.',
    );
    expect(asked).toMatchObject([{ asker: { person: 'telegram:42' }, argument: 'veto 3' }]);
    expect(asked[0]?.asker.messageId).toContain('m1');
  });

  it.each([
    ['another person', '7', false, '/soul is for my owner only.'],
    ['another person in a group', '7', true, '/soul is for my owner only.'],
    ['the owner in a group', '42', true, 'Please send me /soul in a direct chat'],
  ] as const)(
    '[W06] [F09] is declined for %s, and its service is not called',
    async (_, sender, inGroup, words) => {
      expect(await write('/soul apply 3', sender, { inGroup, services: SERVICES })).toContain(
        words,
      );
      expect(asked).toEqual([]);
    },
  );

  it('[W06] answers that it is not available when its service is missing', async () => {
    expect(await write('/soul', '42')).toContain('not available');
  });
});

describe('/heartbeat', () => {
  it('[F09] answers the owner, who may also ask in a group', async () => {
    expect(await write('/heartbeat now mail', '42', { services: SERVICES })).toBe('Heartbeat: on.');
    await write('/heartbeat', '42', { inGroup: true, services: SERVICES });
    expect(asked).toMatchObject([
      { asker: { isGroup: false, reader: { kind: 'owner' } }, argument: 'now mail' },
      { asker: { isGroup: true, reader: { kind: 'guest' } }, argument: '' },
    ]);
    expect(scene.happened.filter((what) => what.startsWith('wake'))).toEqual([]);
  });

  it('[F09] is declined for other people', async () => {
    expect(await write('/heartbeat now', '7', { services: SERVICES })).toBe(
      '/heartbeat is for my owner only.',
    );
    expect(asked).toEqual([]);
  });

  it('[F09] adds its line to /status for the owner only', async () => {
    const line = 'Heartbeat: next 14:30, 3 tasks';
    expect(await write('/status', '42', { services: SERVICES })).toContain(line);
    expect(await write('/status', '7', { services: SERVICES })).not.toContain(line);
    expect(await write('/status', '42', { inGroup: true, services: SERVICES })).not.toContain(line);
  });
});
