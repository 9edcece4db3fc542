import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';
import type { CommandServices, ServiceCommandSender } from './command.ts';

const GROUP = { id: '-5', type: 'group', title: 'Team' } as const;

let scene: IngressScene;
let asked: { readonly what: string; readonly asker: ServiceCommandSender }[];
let nth: number;
beforeEach(async () => {
  nth = 0;
  asked = [];
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const SERVICE: CommandServices = {
  async memory(asker) {
    asked.push({ what: 'show', asker });
    return 'What I have saved:';
  },
  async forget(asker, argument) {
    asked.push({ what: `forget ${argument}`, asker });
    return 'Forgotten: one.';
  },
};

/** Sends a message (42 is the owner) in the direct chat or in the group, and returns the answer. */
async function write(
  text: string,
  { sender = '42', inGroup = false, service = SERVICE, ...more }: Partial<Writing> = {},
): Promise<string | undefined> {
  nth += 1;
  const chat = inGroup ? GROUP : { id: sender };
  const access = { ...POLICY.access, direct: 'open' } as const;
  const receive = scene.ingressWith({ access }, { commandServices: () => service ?? {} });
  const message = { messageId: `m${nth}`, text, chat, sender: { id: sender }, addressed: true };
  await receive(createMessage({ ...message, ...more }), CAPABILITIES);
  return (await scene.told(chat.id)).at(-1);
}

interface Writing {
  readonly sender: string;
  readonly inGroup: boolean;
  readonly service: CommandServices | null;
  readonly messageId: string;
  readonly replyTo: { readonly messageId: string; readonly text: string };
}

describe('/memory and /forget', () => {
  it.each([
    ['the owner alone with the agent', '42', false, 'owner'],
    ['the owner in a group', '42', true, 'guest'],
    ['a stranger alone with the agent', '7', false, 'guest'],
    ['a stranger in a group', '7', true, 'guest'],
  ] as const)(
    '[G15] [W02] show only what the reader of the answer may see: %s',
    async (_who, sender, inGroup, kind) => {
      await write('/memory', { sender, inGroup });
      await write('/forget heron pie', { sender, inGroup });
      const chat = inGroup ? GROUP.id : sender;
      const reader = { kind, conversationId: `telegram:default:${chat}` };
      const asker = { person: `telegram:${sender}`, reader, isGroup: inGroup };
      expect(asked).toMatchObject([
        { what: 'show', asker },
        { what: 'forget heron pie', asker },
      ]);
    },
  );

  it("[G15] answer with the service's text, without a turn", async () => {
    expect(await write('/memory')).toBe('What I have saved:');
    expect(await write('/forget all')).toBe('Forgotten: one.');
    expect(scene.happened.filter((what) => what.startsWith('wake'))).toEqual([]);
  });

  it('[G15] /forget stores neither the text to forget nor the message it replies to', async () => {
    const replyTo = { messageId: 'm0', text: 'about heronpie' };
    await write('/forget heronpie', { replyTo });
    expect(await scene.inbox()).toEqual(['/forget']);
    const row = (
      await scene.store.inbox.recent({ channel: 'telegram', account: 'default', chatId: '42' }, 9)
    )[0];
    expect(JSON.stringify(row)).not.toContain('heronpie');
  });

  it('[G15] answer a redelivered message only once', async () => {
    await write('/forget heron', { messageId: 'same' });
    await write('/forget heron', { messageId: 'same' });
    expect(await scene.told()).toHaveLength(1);
    const [first, again] = asked.map(({ asker }) => asker.messageId);
    expect(again).toBe(first);
    expect(first).toContain('same');
  });

  it('[G15] answer that memory is disabled when the settings disable it', async () => {
    expect(await write('/memory', { service: null })).toContain('switched off');
    expect(await write('/forget all', { service: null })).toContain('switched off');
    expect(asked).toEqual([]);
  });
});
