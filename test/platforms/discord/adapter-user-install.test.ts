import type { CommandInfo } from '@parley/channels';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import {
  ANN,
  createPart,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from './adapter-scene.ts';

afterEach(endScenes);

const BEN = '200000000000000502';
const CID = '200000000000000503';
const COMMANDS: CommandInfo[] = [
  { name: 'status', summary: 'how I am doing', private: true },
  { name: 'new', summary: 'start afresh' },
];

async function connected(
  wishes: Parameters<typeof startDiscordScene>[0] = {},
): Promise<DiscordScene> {
  const here = await startDiscordScene({ commands: COMMANDS, ...wishes });
  await here.connect();
  await here.double.waitFor(() => here.double.calls('PUT /applications/').length > 0);
  return here;
}

const shownIn = ({ double }: DiscordScene, channel: string) =>
  double.conversation(channel).map(({ visible }) => visible);

/** Chats that the bot cannot see, each with the chat to which a command used there belongs. */
const FOREIGN: Readonly<Record<string, (here: DiscordScene) => { channel: string; chat: object }>> =
  {
    'direct messages of two other people': ({ double }) => {
      double.nameUser(BEN, 'Ben');
      const channel = double.openPrivate([ANN, BEN]);
      return { channel, chat: { id: channel, type: 'group', title: 'Direct messages with Ben' } };
    },
    'a group of friends': ({ double }) => {
      const channel = double.openPrivate([ANN, BEN, CID], 'Climbing');
      return { channel, chat: { id: channel, type: 'group', title: 'Climbing' } };
    },
    'a server without the bot': ({ double }) => {
      const channel = double.addChannel(double.addGuild('Elsewhere', false), 'random');
      return { channel, chat: { id: channel, type: 'group', title: '#random' } };
    },
    'a thread of a server without the bot': ({ double }) => {
      const parent = double.addChannel(double.addGuild('Elsewhere', false), 'random');
      const channel = double.thread({ channel: parent, name: 'plans', from: ANN });
      const chat = { id: parent, type: 'thread', threadId: channel, title: '#plans' };
      return { channel, chat };
    },
  };

describe('a command from an app that a person has added to their account', () => {
  it.each(Object.keys(FOREIGN))('[F17] [F11] is answered where it was used: %s', async (place) => {
    const here = await connected();
    const { double } = here;
    const { channel, chat } = FOREIGN[place]?.(here) ?? { channel: '', chat: {} };
    const id = double.slash({ channel, from: ANN, name: 'new', options: { text: 'hello' } });
    const message = await here.hears(1);
    expect(message).toMatchObject({ text: '/new hello', chat, sender: { id: ANN } });
    await here.answers(id, 'Hello yourself');
    await here.answers(id, 'and more', { id: 'part_2', index: 1, idempotencyKey: 'second' });
    // The same part is sent again, as after a lost confirmation.
    await here.answers(id, 'and more', { id: 'part_2', index: 1, idempotencyKey: 'second' });
    expect(shownIn(here, channel)).toEqual(['Hello yourself', 'and more']);
    // Discord refuses all of the bot's other calls in this chat.
    expect(double.calls(`GET /channels/${channel}`)).toEqual([]);
    expect(double.calls(`POST /channels/${channel}`)).toEqual([]);
  });

  it.each(Object.keys(FOREIGN))(
    '[F09] is answered only to that person when the command is private: %s',
    async (place) => {
      const here = await connected();
      const { channel } = FOREIGN[place]?.(here) ?? { channel: '' };
      const id = here.double.slash({ channel, from: ANN, name: 'status' });
      await here.hears(1);
      await here.answers(id, 'I am well');
      await here.answers(id, 'very well', { id: 'part_2', idempotencyKey: 'second' });
      const { ephemeral } = here.double.interaction(id);
      expect(ephemeral.map(({ visible }) => visible)).toEqual(['I am well', 'very well']);
      expect(shownIn(here, channel)).toEqual([]);
    },
  );

  it("[F17] [W02] never shares a conversation with that person's direct chat", async () => {
    const here = await connected();
    const { double } = here;
    const places = [
      double.dmWith(ANN),
      double.openPrivate([ANN, BEN]),
      double.openPrivate([ANN, CID]),
    ];
    for (const channel of places) double.slash({ channel, from: ANN, name: 'new' });
    await here.hears(3);
    const chats = here.received.map(({ chat }) => chat);
    expect(chats.map(({ type }) => type).sort()).toEqual(['direct', 'group', 'group']);
    expect(new Set(chats.map(({ id }) => id)).size).toBe(3);
  });

  it('[F17] is not a direct chat when Discord does not say whose direct messages these are', async () => {
    const here = await connected({ double: { optional: 'absent' } });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    double.slash({ channel, from: ANN, name: 'new' });
    expect(await here.hears(1)).toMatchObject({ chat: { id: channel, type: 'group' } });
    double.slash({ channel: double.dmWith(ANN), from: ANN, name: 'new' });
    expect(await here.hears(2)).toMatchObject({ chat: { type: 'direct' } });
  });

  it('[F05] is refused with the reason when the group is not served', async () => {
    const reason = 'the group is not on the allow list';
    const here = await connected({ receive: async () => ({ kind: 'refused', reason }) });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const id = double.slash({ channel, from: ANN, name: 'new' });
    await double.waitFor(() => double.interaction(id).answered);
    expect(double.interaction(id).ephemeral).toMatchObject([
      { visible: `I'm not allowed to do that here: ${reason}.` },
    ]);
  });

  it("[F11] [D04] reports an answer that comes after Discord's time limit", async () => {
    let now = Date.now();
    const here = await connected({ double: { clock: () => now } });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const [open, alone] = [
      double.slash({ channel, from: ANN, name: 'new' }),
      double.slash({ channel, from: ANN, name: 'status' }),
    ];
    await here.hears(2);
    await double.waitFor(() => [open, alone].every((id) => double.interaction(id).answered));
    now += 15 * 60_000 + 1;
    const late = here.answers(open, 'Hello');
    await expect(late).rejects.toThrow('limit of 15 minutes for answers there has passed');
    expect(await readFailure(late)).toEqual({ kind: 'refused' });
    await here.answers(alone, 'I am well', { idempotencyKey: 'other' });
    expect(shownIn(here, double.dmWith(ANN))).toEqual(['I am well']);
    expect(shownIn(here, channel)).toEqual(['']);
  });

  it('[D04] gives up parts beyond the number of follow-ups that Discord accepts', async () => {
    const here = await connected();
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const id = double.slash({ channel, from: ANN, name: 'new' });
    await here.hears(1);
    const send = (n: number) =>
      here.answers(id, `part ${n}`, { id: `part_${n}`, index: n, idempotencyKey: `key ${n}` });
    for (let n = 0; n < 6; n += 1) await send(n);
    expect(await readFailure(send(6))).toEqual({ kind: 'refused' });
    expect(shownIn(here, channel)).toHaveLength(6);
  });

  it('[F12] does not show typing in chats where only answers to commands arrive', async () => {
    const here = await connected();
    const { double, adapter } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const id = double.slash({ channel, from: ANN, name: 'new' });
    const { chat, response } = await here.hears(1);
    await adapter.typing?.show({ chatId: chat.id, replyToMessageId: id, response });
    expect(double.calls(`POST /channels/${channel}/typing`)).toEqual([]);
  });

  it('[G05] has buttons whose presses are answered in the same chat', async () => {
    const here = await connected({
      receive: async ({ pressed }) =>
        pressed === undefined
          ? { kind: 'accepted', conversationId: 'c' }
          : { kind: 'command', name: 'approve', settled: true },
    });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const id = double.slash({ channel, from: ANN, name: 'new' });
    await here.hears(1);
    const buttons = [
      { label: 'Approve', data: '/approve AB', style: 'success' as const },
      { label: 'Deny', data: '/deny AB', style: 'danger' as const },
    ];
    const { platformMessageId: message } = await here.answers(id, 'May I?', { buttons });
    const press = double.press({ channel, from: ANN, message, customId: '0:/approve AB' });
    expect(await here.hears(2)).toMatchObject({ text: '/approve AB', pressed: message });
    await double.waitFor(() => double.interaction(press).answered);
    await here.answers(press, 'Allowed.', { idempotencyKey: 'second' });
    expect(shownIn(here, channel)).toEqual(['May I?', 'Allowed.']);
    const [question] = double.conversation(channel);
    expect(JSON.stringify(question?.message.components)).not.toContain('custom_id');
  });
});

describe('the offered commands', () => {
  it.each([
    ['never', { integration_types: [0], contexts: [0, 1] }],
    ['always', { integration_types: [0, 1], contexts: [0, 1, 2] }],
  ])('[F09] follow the settings: userInstall %s', async (userInstall, offered) => {
    const here = await connected({ settings: { userInstall } });
    const { double } = here;
    const ask = userInstall === 'always' ? [{ name: 'ask', ...offered }] : [];
    expect(double.calls('PUT /applications/')[0]?.body).toMatchObject([
      ...ask,
      { name: 'status', ...offered },
      { name: 'new', ...offered },
    ]);
    await here.adapter.stop();
    const again = await startDiscordScene({
      on: double,
      commands: COMMANDS,
      settings: { userInstall },
    });
    await again.connect();
    await double.waitFor(() => double.calls('GET /applications/').length === 2);
    await again.adapter.stop();
    expect(double.calls('PUT /applications/')).toHaveLength(1);
    const channel = double.openPrivate([ANN, BEN]);
    const use = () => double.slash({ channel, from: ANN, name: 'new' });
    if (userInstall === 'never') expect(use).toThrow('No command /new');
    else expect(use()).toMatch(/^\d+$/);
  });

  it('[F18] include a command for ordinary messages where the bot cannot be mentioned', async () => {
    const here = await connected({ settings: { userInstall: 'always' } });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const options = { text: '/status of the weather?' };
    const id = double.slash({ channel, from: ANN, name: 'ask', options: { text: 'how are you?' } });
    expect(await here.hears(1)).toMatchObject({ text: 'how are you?', addressed: true });
    await here.answers(id, 'Fine');
    double.slash({ channel, from: ANN, name: 'ask', options });
    expect(await here.hears(2)).toMatchObject({ text: options.text });
    expect(shownIn(here, channel)[0]).toBe('Fine');
  });

  it("[F09] leave that command's name to a skill", async () => {
    const commands = [...COMMANDS, { name: 'ask', summary: 'a skill', isSkill: true as const }];
    const here = await connected({ settings: { userInstall: 'always' }, commands });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    double.slash({ channel, from: ANN, name: 'ask', options: { text: 'how are you?' } });
    expect(await here.hears(1)).toMatchObject({ text: '/ask how are you?' });
  });

  it('[F09] are left to the developer portal unless the settings say otherwise', async () => {
    const { double } = await connected();
    const [registered] = double.calls('PUT /applications/');
    expect(JSON.stringify(registered?.body)).not.toMatch(/contexts|integration_types/);
  });
});

it('[F11] a message to a chat that only commands can reach is refused as forbidden', async () => {
  const here = await connected();
  const channel = here.double.openPrivate([ANN, BEN]);
  const sending = here.adapter.send(createPart(channel, 'good morning'), noSignal());
  expect(await readFailure(sending)).toEqual({ kind: 'forbidden' });
});
