import type { CommandInfo } from '@parley/channels';
import { afterEach, describe, expect, it } from 'vitest';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const BEN = '200000000000000502';
const COMMANDS: CommandInfo[] = [
  { name: 'status', summary: 'how I am doing', private: true },
  { name: 'new', summary: 'start afresh' },
];
const BUTTONS = [{ label: 'More', data: '/status more' }];
const SECOND = { id: 'part_2', index: 1, idempotencyKey: 'second' };

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

/** Settings with which the first message of a forum post is answered. */
const SETTINGS = ['never', 'per-conversation'] as const;

describe.each(SETTINGS)('the first message of a forum post, with threads: %s', (threads) => {
  async function posted() {
    const here = await connected({ settings: { threads } });
    const { double } = here;
    const forum = double.addChannel(double.guildId, 'questions', 'forum');
    const text = `<@${double.me.id}> like this?`;
    const post = double.thread({ channel: forum, name: 'How?', from: ANN, text });
    const { messageId, chat } = await here.hears(1);
    expect({ messageId, chat }).toMatchObject({ messageId: post, chat: { threadId: post } });
    return { here, double, forum, post };
  }
  const QUESTION = 'like this?';

  it('[F11] is answered in the post, which has the same id', async () => {
    const { here, double, forum, post } = await posted();
    const address = { chatId: forum, threadId: post, replyToMessageId: post };
    await here.adapter.typing?.show(address);
    await here.answers(post, 'Yes');
    await here.answers(post, 'and so on', SECOND);
    expect(shownIn(here, post).slice(1)).toEqual(['Yes', 'and so on']);
    expect(shownIn(here, post)[0]).toContain(QUESTION);
    const toForum = double.calls(`POST /channels/${forum}`);
    expect(toForum).toEqual([]);
    expect(double.calls(`POST /channels/${post}/typing`)).toHaveLength(1);
  });

  it('[F12] gets reactions and a streamed answer in the post', async () => {
    const { here, double, forum, post } = await posted();
    const address = { chatId: forum, threadId: post };
    await here.adapter.messages?.react?.(address, post, '👍');
    const text = 'x'.repeat(100);
    await here.adapter.streaming?.update({ ...address, replyToMessageId: post }, 'turn_1', {
      show: async () => [{ text, plain: text }],
    });
    expect(shownIn(here, post)[1]).toBe(text);
    expect(double.calls(`PUT /channels/${post}/messages/${post}/reactions`)).toHaveLength(1);
  });
});

describe('an answer in a thread that Discord has not listed yet', () => {
  it('[F11] goes to the post even if the gateway has not listed it since a restart', async () => {
    const here = await connected();
    const { double } = here;
    const forum = double.addChannel(double.guildId, 'questions', 'forum');
    const post = double.thread({ channel: forum, name: 'How?', from: ANN, text: 'Like this?' });
    await here.hears(1);
    await here.adapter.stop();
    // The adapter sends without a connection, so it has no cached channels.
    const after = await startDiscordScene({ on: double, heard: here.received });
    await after.answers(post, 'Yes');
    expect(shownIn(after, post)).toEqual(['Like this?', 'Yes']);
  });
});

describe('a button below a message visible to one person', () => {
  it('[F18] [G05] is answered to that person only', async () => {
    const here = await connected();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
    await here.hears(1);
    const { platformMessageId: message } = await here.answers(id, 'I am well', {
      buttons: BUTTONS,
    });
    const use = { channel: double.channelId, from: ANN, message, customId: '0:/status more' };
    const press = double.press(use);
    await here.hears(2);
    await double.waitFor(() => double.interaction(press).answered);
    await here.answers(press, 'my secrets', { idempotencyKey: 'other' });
    await here.answers(press, 'all of them', SECOND);
    expect(shownIn(here, double.channelId)).toEqual([]);
    const seen = double.interaction(press).ephemeral.map(({ visible }) => visible);
    expect(seen).toEqual(expect.arrayContaining(['my secrets', 'all of them']));
  });

  it('[F11] is answered in the channel when everyone sees the message', async () => {
    const here = await connected();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
    await here.hears(1);
    const { platformMessageId: message } = await here.answers(id, 'New', { buttons: BUTTONS });
    const use = { channel: double.channelId, from: BEN, message, customId: '0:/status more' };
    const press = double.press(use);
    await here.hears(2);
    await here.answers(press, 'well', { idempotencyKey: 'other' });
    expect(shownIn(here, double.channelId)).toEqual(['New', 'well']);
  });
});

describe('a command in a server channel where the bot may not write', () => {
  it.each(['send', 'view'] as const)(
    '[F11] is answered completely through the interaction: %s',
    async (permission) => {
      const here = await connected();
      const { double } = here;
      double.deny(double.channelId, permission);
      const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
      const { chat, response } = await here.hears(1);
      await here.adapter.typing?.show({ chatId: chat.id, replyToMessageId: id, response });
      await here.answers(id, 'one');
      await here.answers(id, 'two', SECOND);
      expect(shownIn(here, double.channelId)).toEqual(['one', 'two']);
      expect(double.calls(`POST /channels/${double.channelId}`)).toEqual([]);
    },
  );
});

describe("an answer to a command after Discord's time limit", () => {
  it('[F11] [G05] is sent through the button press it has waited for, if the bot cannot write', async () => {
    let now = Date.now();
    const here = await connected({ double: { clock: () => now } });
    const { double } = here;
    const channel = double.openPrivate([ANN, BEN]);
    const id = double.slash({ channel, from: ANN, name: 'new' });
    await here.hears(1);
    const { platformMessageId: message } = await here.answers(id, 'May I?', { buttons: BUTTONS });
    now += 15 * 60_000 + 1;
    const press = double.press({ channel, from: ANN, message, customId: '0:/status more' });
    await here.hears(2);
    await double.waitFor(() => double.interaction(press).answered);
    await here.answers(id, 'Done', SECOND);
    await here.answers(id, 'Done', SECOND);
    expect(shownIn(here, channel)).toEqual(['May I?', 'Done']);
  });
});

describe('the first answer to a command', () => {
  it('[D04] is not sent again after a restart because of trailing white space', async () => {
    const here = await connected();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
    await here.hears(1);
    await here.answers(id, 'I am well\n');
    await here.adapter.stop();
    const after = await startDiscordScene({ on: double, heard: here.received, commands: COMMANDS });
    await after.connect();
    await after.answers(id, 'I am well\n');
    expect(double.interaction(id).ephemeral.map(({ visible }) => visible)).toEqual(['I am well']);
  });
});

describe('an interaction that does not start anything', () => {
  const event = ({ double }: DiscordScene, more: object) => ({
    id: '1500000000000000001',
    application_id: double.me.id,
    type: 3,
    token: 'made-up',
    channel_id: double.channelId,
    guild_id: double.guildId,
    member: { user: { id: ANN, username: 'ann', discriminator: '0' }, roles: [] },
    message: { id: '1500000000000000000' },
    data: { custom_id: 'of another app', component_type: 2 },
    ...more,
  });

  it.each([
    ['a button of nobody', {}, 'the pressed button no longer does anything'],
    ['one without a token', { token: null }, 'an interaction in an unknown form'],
    ['a completion', { type: 4 }, 'an interaction of type 4, which is not handled'],
  ])('[D08] [F16] is recorded for /why: %s', async (_name, more, reason) => {
    const here = await connected();
    const { double } = here;
    double.event('INTERACTION_CREATE', event(here, more), double.guildId);
    await double.waitFor(() => here.ignored.length > 0);
    const at = { chatId: double.channelId, messageId: '1500000000000000001' };
    expect(here.ignored).toMatchObject([{ event: at, reason }]);
    expect(here.received).toEqual([]);
  });

  it('[F16] is not recorded if its text is below a subcommand, as in an earlier menu', async () => {
    const here = await connected();
    const { double } = here;
    const options = [
      {
        name: 'weather',
        type: 1,
        options: [
          { name: 'city', type: 3, value: 'Rome' },
          { name: 'days', type: 4, value: 3 },
        ],
      },
    ];
    const data = { name: 'show', type: 1, options };
    const command = event(here, { type: 2, message: undefined, data });
    double.event('INTERACTION_CREATE', command, double.guildId);
    expect(await here.hears(1)).toMatchObject({ text: '/show weather Rome 3' });
  });
});
