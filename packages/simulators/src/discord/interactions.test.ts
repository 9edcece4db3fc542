import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Events,
  type Interaction,
  MessageFlags,
  SlashCommandBuilder,
} from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startStage, stopStages, type TestStage } from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

const ASK = new SlashCommandBuilder()
  .setName('ask')
  .setDescription('Asks something')
  .addStringOption((option) => option.setName('question').setDescription('What').setRequired(true));

/** Resolves with the next interaction that discord.js reports. */
const next = ({ client }: TestStage) =>
  new Promise<Interaction>((resolve) => client.once(Events.InteractionCreate, resolve));

async function asked(scene: TestStage, question = 'why') {
  await scene.client.application.commands.create(ASK);
  const arrived = next(scene);
  const { double } = scene;
  double.slash({ channel: double.channelId, from: ANN, name: 'ask', options: { question } });
  const interaction = await arrived;
  if (!interaction.isChatInputCommand()) throw new Error('No command');
  return interaction;
}

async function pressed(scene: TestStage) {
  const { double, channel } = scene;
  const button = new ButtonBuilder()
    .setCustomId('yes')
    .setLabel('Yes')
    .setStyle(ButtonStyle.Success);
  const row = new ActionRowBuilder<ButtonBuilder>().addComponents(button);
  const message = await channel.send({ content: 'Sure?', components: [row] });
  const arrived = next(scene);
  double.press({ channel: channel.id, message: message.id, customId: 'yes', from: ANN });
  const interaction = await arrived;
  if (!interaction.isButton()) throw new Error('No button');
  return interaction;
}

describe('[U04] slash commands of the Discord double', () => {
  it('refuses two commands with the same name, more than 100 commands, and a command of more than 8,000 characters', async () => {
    const { client } = await startStage();
    const { commands } = client.application;
    const other = { name: 'other', description: 'Another' };
    await expect(commands.set([other, other])).rejects.toMatchObject({ code: 50035 });
    const many = Array.from({ length: 101 }, (_, n) => ({ ...other, name: `c${n}` }));
    await expect(commands.set(many)).rejects.toMatchObject({ code: 50035 });
    const text = (name: string) => ({ type: 3 as const, name, description: 'd'.repeat(100) });
    const group = (name: string) => ({
      type: 1 as const,
      name,
      description: 'd'.repeat(100),
      options: Array.from({ length: 25 }, (_, n) => text(`o${n}`)),
    });
    const large = { ...other, options: Array.from({ length: 25 }, (_, n) => group(`g${n}`)) };
    await expect(commands.set([large])).rejects.toMatchObject({ code: 50035 });
    expect((await commands.set(many.slice(0, 100))).size).toBe(100);
    await expect(commands.create(other)).rejects.toMatchObject({ code: 50035 });
  });

  it('registers and replaces commands, globally and for one guild', async () => {
    const { double, client } = await startStage();
    const { commands } = client.application;
    const created = await commands.create(ASK);
    await commands.set([ASK, ASK.toJSON()].slice(0, 1), double.guildId);
    expect([...(await commands.fetch()).keys()]).toEqual([created.id]);
    await commands.set([{ name: 'other', description: 'Another' }]);
    expect([...(await commands.fetch()).values()].map(({ name }) => name)).toEqual(['other']);
    const wrong = { name: 'With Space', description: 'x' };
    await expect(commands.create(wrong)).rejects.toMatchObject({ code: 50035 });
  });

  it('delivers a command with its options and shows the answer', async () => {
    const scene = await startStage();
    const interaction = await asked(scene);
    expect(interaction.options.getString('question')).toBe('why');
    expect(interaction).toMatchObject({ user: { id: ANN }, channelId: scene.channel.id });
    await interaction.reply('because');
    const again = interaction.client.rest.post(
      `/interactions/${interaction.id}/${interaction.token}/callback`,
      { auth: false, body: { type: 4, data: { content: 'twice' } } },
    );
    await expect(again).rejects.toMatchObject({ code: 40060 });
    expect(scene.double.sends()).toMatchObject([
      { visible: 'because', route: { interactionId: interaction.id } },
    ]);
  });

  it('replaces the "thinking" placeholder with the answer and adds follow-ups', async () => {
    const scene = await startStage();
    const interaction = await asked(scene);
    await interaction.deferReply();
    expect(scene.double.conversation(scene.channel.id)).toMatchObject([
      { visible: '', message: { flags: 1 << 7 } },
    ]);
    await interaction.editReply('slowly');
    await interaction.followUp('and more');
    await interaction.editReply('slowly!');
    expect(scene.double.sends().map(({ kind, visible }) => `${kind} ${visible}`)).toEqual([
      'message slowly',
      'message and more',
      'edit slowly!',
    ]);
    await interaction.deleteReply();
    const left = scene.double.conversation(scene.channel.id);
    expect(left.map(({ visible }) => visible)).toEqual(['and more']);
  });

  it('shows an ephemeral answer to one person only', async () => {
    const scene = await startStage();
    const interaction = await asked(scene);
    await interaction.reply({ content: 'psst', flags: MessageFlags.Ephemeral });
    await interaction.editReply('psst!');
    expect(scene.double.conversation(scene.channel.id)).toEqual([]);
    expect(scene.double.sends().at(-1)).toMatchObject({
      route: { ephemeral: true },
      visible: 'psst!',
    });
  });

  it('rejects a first answer after three seconds and a later answer after fifteen minutes', async () => {
    let now = Date.now();
    const scene = await startStage({ clock: () => now });
    const late = await asked(scene);
    now += 3001;
    await expect(late.reply('late')).rejects.toMatchObject({ code: 10062 });
    const timely = await asked(scene);
    await timely.deferReply();
    now += 15 * 60_000 + 1;
    await expect(timely.editReply('too late')).rejects.toMatchObject({ code: 50027 });
  });

  it('accepts a valid first answer after refusing an invalid one', async () => {
    const scene = await startStage();
    const interaction = await asked(scene);
    await expect(interaction.reply('x'.repeat(2001))).rejects.toMatchObject({ code: 50035 });
    await interaction.reply('short');
    expect(scene.double.interaction(interaction.id).answered).toBe(true);
  });
});

describe('[U04] buttons of the Discord double', () => {
  it('delivers a press and edits the message with the button', async () => {
    const scene = await startStage();
    const interaction = await pressed(scene);
    expect(interaction).toMatchObject({ customId: 'yes', user: { id: ANN } });
    await interaction.update({ content: 'Done', components: [] });
    expect(scene.double.conversation(scene.channel.id)).toMatchObject([
      { visible: 'Done', edited: true, message: { components: [] } },
    ]);
    const gone = { channel: scene.channel.id, message: interaction.message.id, customId: 'yes' };
    expect(() => scene.double.press(gone)).toThrow('No button');
  });

  it('accepts an acknowledgement first and the edit later', async () => {
    const scene = await startStage();
    const interaction = await pressed(scene);
    await interaction.deferUpdate();
    await interaction.editReply('Later');
    await interaction.followUp('New');
    const seen = scene.double.conversation(scene.channel.id).map(({ visible }) => visible);
    expect(seen).toEqual(['Later', 'New']);
  });

  it('delivers presses on an ephemeral answer', async () => {
    const scene = await startStage();
    const first = await asked(scene);
    const button = new ButtonBuilder()
      .setCustomId('go')
      .setLabel('Go')
      .setStyle(ButtonStyle.Primary);
    const row = new ActionRowBuilder<ButtonBuilder>().addComponents(button);
    await first.reply({ content: 'psst', components: [row], flags: MessageFlags.Ephemeral });
    const { ephemeral } = scene.double.interaction(first.id);
    const arrived = next(scene);
    const message = ephemeral[0]?.id ?? '';
    scene.double.press({ channel: scene.channel.id, message, customId: 'go', from: ANN });
    const second = await arrived;
    if (!second.isButton()) throw new Error('No button');
    await second.update({ content: 'gone', components: [] });
    expect(scene.double.interaction(first.id).ephemeral).toMatchObject([{ visible: 'gone' }]);
  });
});
