import { Events, type Interaction, MessageFlags } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startStage, stopStages, type TestStage } from './testing/discord-client.ts';

const ANN = '200000000000000501';
const BEN = '200000000000000502';
afterEach(stopStages);

const next = ({ client }: TestStage) =>
  new Promise<Interaction>((resolve) => client.once(Events.InteractionCreate, resolve));

const input = (more: object = {}) => ({ type: 4, custom_id: 'words', style: 2, ...more });
const form = (more: object = {}, components: object[] = [label(input())]) => ({
  title: 'Your answer',
  custom_id: 'form',
  components,
  ...more,
});
function label(component: object, more: object = {}): object {
  return { type: 18, label: 'Your answer', component, ...more };
}

async function pressed(scene: TestStage) {
  const components = [
    { type: 1, components: [{ type: 2, style: 1, label: 'Say', custom_id: 'say' }] },
  ];
  const { id: message } = (await scene.client.rest.post(`/channels/${scene.channel.id}/messages`, {
    body: { content: 'Well?', components },
  })) as { id: string };
  const arrived = next(scene);
  const use = { channel: scene.channel.id, message, customId: 'say', from: ANN };
  const id = scene.double.press(use);
  const interaction = await arrived;
  const answer = (type: number, data: object) =>
    scene.client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
      auth: false,
      body: { type, data },
    });
  return { id, interaction, answer };
}

describe('[U04] forms of the Discord double', () => {
  it.each<[string, object]>([
    ['a long title', form({ title: 'x'.repeat(46) })],
    ['no id', form({ custom_id: '' })],
    ['no component', form({}, [])],
    [
      'six components',
      form(
        {},
        Array.from({ length: 6 }, (_, n) => label(input({ custom_id: `${n}` }))),
      ),
    ],
    ['a long label', form({}, [label(input(), { label: 'x'.repeat(46) })])],
    ['an input outside a label', form({}, [input()])],
    ['a button', form({}, [{ type: 1, components: [{ type: 2 }] }])],
    ['more than 4,000 characters', form({}, [label(input({ max_length: 4_001 }))])],
    ['two inputs with the same id', form({}, [label(input()), label(input())])],
  ])('refuses a form with %s', async (_what, data) => {
    const { answer } = await pressed(await startStage());
    await expect(answer(9, data)).rejects.toMatchObject({ code: 50035 });
  });

  it('accepts a form within 3 s as the first answer and submits its values with the message it was opened from', async () => {
    let now = Date.now();
    const scene = await startStage({ clock: () => now });
    const { id, answer, interaction } = await pressed(scene);
    await answer(9, form());
    await expect(answer(6, {})).rejects.toMatchObject({ code: 40060 });
    expect(() => scene.double.submit({ interaction: id, values: {} })).toThrow('empty');
    const arrived = next(scene);
    scene.double.submit({ interaction: id, values: { words: 'so' } });
    const submitted = await arrived;
    if (!submitted.isModalSubmit() || !submitted.isFromMessage()) throw new Error('No form');
    expect(submitted.fields.getTextInputValue('words')).toBe('so');
    expect(submitted).toMatchObject({ customId: 'form', user: { id: interaction.user.id } });
    await submitted.update({ content: 'Thank you', components: [] });
    expect(scene.double.conversation(scene.channel.id)).toMatchObject([{ visible: 'Thank you' }]);
    const late = await pressed(scene);
    now += 3_001;
    await expect(late.answer(9, form())).rejects.toMatchObject({ code: 10062 });
  });

  it('refuses a form in response to a submitted form', async () => {
    const scene = await startStage();
    const { id, answer } = await pressed(scene);
    await answer(9, form());
    const arrived = next(scene);
    scene.double.submit({ interaction: id, values: { words: 'so' } });
    const submitted = await arrived;
    const again = scene.client.rest.post(
      `/interactions/${submitted.id}/${submitted.token}/callback`,
      { auth: false, body: { type: 9, data: form() } },
    );
    await expect(again).rejects.toMatchObject({ code: 50035 });
  });
});

describe("[U04] apps installed on a user's account, in the Discord double", () => {
  async function used(clock?: () => number) {
    const scene = await startStage(clock === undefined ? {} : { clock });
    await scene.client.application.commands.create({ name: 'ask', description: 'Asks' });
    const channel = scene.double.openPrivate([ANN, BEN]);
    const arrived = next(scene);
    scene.double.slash({ channel, from: ANN, name: 'ask' });
    const interaction = await arrived;
    if (!interaction.isChatInputCommand()) throw new Error('No command');
    return { scene, channel, interaction };
  }

  it('reports the context of use and denies any other access to the channel', async () => {
    const { scene, channel, interaction } = await used();
    expect(interaction).toMatchObject({ context: 2, channelId: channel, guildId: null });
    expect(interaction.authorizingIntegrationOwners).toMatchObject({ guildId: null, userId: ANN });
    const { rest } = scene.client;
    await expect(rest.get(`/channels/${channel}`)).rejects.toMatchObject({ status: 403 });
    const sending = rest.post(`/channels/${channel}/messages`, { body: { content: 'a' } });
    await expect(sending).rejects.toMatchObject({ status: 403 });
    await interaction.reply('hello');
    expect(scene.double.conversation(channel)).toMatchObject([{ visible: 'hello' }]);
    expect(scene.heard).toEqual([]);
  });

  it('delivers commands from servers without the bot', async () => {
    const scene = await startStage();
    await scene.client.application.commands.create({ name: 'ask', description: 'Asks' });
    const guild = scene.double.addGuild('Elsewhere', false);
    const arrived = next(scene);
    scene.double.slash({
      channel: scene.double.addChannel(guild, 'random'),
      from: ANN,
      name: 'ask',
    });
    expect(await arrived).toMatchObject({ context: 0, guildId: guild, guild: null });
  });

  it('accepts five follow-ups per interaction', async () => {
    const { interaction } = await used();
    await interaction.reply('first');
    for (let n = 0; n < 5; n += 1)
      await interaction.followUp({ content: `more ${n}`, flags: MessageFlags.Ephemeral });
    await expect(interaction.followUp('too many')).rejects.toMatchObject({ code: 40094 });
  });

  it('offers commands only in the contexts they are registered for', async () => {
    const scene = await startStage();
    const { double, client } = scene;
    const body = [{ name: 'ask', description: 'Asks', integration_types: [0], contexts: [0, 1] }];
    await client.rest.put(`/applications/${double.me.id}/commands`, { body });
    const channel = double.openPrivate([ANN, BEN]);
    expect(() => double.slash({ channel, from: ANN, name: 'ask' })).toThrow('No command');
    expect(double.slash({ channel: double.channelId, from: ANN, name: 'ask' })).toMatch(/^\d+$/);
    const odd = [{ name: 'ask', description: 'Asks', contexts: [7] }];
    const refused = client.rest.put(`/applications/${double.me.id}/commands`, { body: odd });
    await expect(refused).rejects.toMatchObject({ code: 50035 });
  });
});
