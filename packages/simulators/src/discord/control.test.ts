import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TypingPerson } from './control.ts';
import { startStage, stopStages } from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

/** Calls the control interface over HTTP, as curl would. */
function controlOf(apiRoot: string) {
  const base = `${new URL(apiRoot).origin}/control`;
  return {
    get: async (path: string): Promise<unknown> => (await fetch(`${base}/${path}`)).json(),
    post: async (action: string, body: unknown) => {
      const response = await fetch(`${base}/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as unknown };
    },
  };
}

describe('[U04] HTTP control of the Discord double', () => {
  it("sends a person's message, waits for the bot's reply, and shows the conversation", async () => {
    const { double, client } = await startStage();
    client.on('messageCreate', (message) => {
      if (message.author.id === ANN) void message.reply(`**${message.attachments.size}** files`);
    });
    const control = controlOf(double.apiRoot);
    const files = [{ name: 'a.txt', base64: 'aGk=' }];
    await control.post('say', { channel: double.channelId, from: ANN, text: 'look', files });
    expect(await control.get('sends?after=0&wait=10000')).toMatchObject([
      { visible: '1 files', route: { channelId: double.channelId } },
    ]);
    expect(await control.get(`conversation?channel=${double.channelId}`)).toMatchObject([
      { from: ANN },
      { from: 'bot' },
    ]);
    expect(await control.get('status')).toMatchObject({ identifies: 1, me: double.me.id });
  });

  it('injects faults and rejects unknown actions', async () => {
    const { double, channel } = await startStage();
    const control = controlOf(double.apiRoot);
    await control.post('fault', { kind: 'refuse', status: 403, code: 50001, message: 'No' });
    await expect(channel.send('hi')).rejects.toMatchObject({ code: 50001 });
    expect((await control.post('fault', { kind: 'meteor' })).status).toBe(400);
    expect((await control.post('nothing', {})).status).toBe(404);
  });
});

const typist = async () => {
  const scene = await startStage();
  return { ...scene, person: new TypingPerson(scene.double) };
};
const BUTTONS = [
  { type: 1, components: [{ type: 2, style: 2, label: 'Yes', custom_id: '0:/yes' }] },
] as const;

describe('[U04] typed commands of the Discord double', () => {
  it('sends direct messages and messages in a channel and a thread', async () => {
    const { person, hears } = await typist();
    for (const line of [
      'hello',
      '  ',
      '!channel',
      'hey @bot',
      '!thread plans',
      'here',
      '!dm',
      'psst',
    ])
      person.runLine(line);
    const heard = (await hears(5)).filter(({ system }) => !system);
    expect(heard.map(({ cleanContent }) => cleanContent)).toEqual([
      'hello',
      'hey @parley-test',
      'here',
      'psst',
    ]);
  });

  it('sends files and replies, presses buttons, reacts, edits and deletes messages', async () => {
    const { person, double, channel, client } = await typist();
    const pressed = new Promise((resolve) =>
      client.once('interactionCreate', (press) => resolve('customId' in press && press.customId)),
    );
    const folder = await mkdtemp(join(tmpdir(), 'parley-typed-'));
    await writeFile(join(folder, 'a.png'), 'x');
    await channel.send({ content: 'Sure?', components: BUTTONS });
    for (const line of ['!channel', '!press Yes', '!react 👍', '!reply yess', '!edit yes'])
      person.runLine(line);
    person.runLine(`!file ${join(folder, 'a.png')} look`);
    person.runLine('oops');
    person.runLine('!delete');
    await rm(folder, { recursive: true });
    expect(await pressed).toBe('0:/yes');
    const [asked, yes, picture, ...rest] = double.conversation(double.channelId);
    expect(asked).toMatchObject({ reactions: [{ emoji: { name: '👍' } }] });
    expect(yes).toMatchObject({ visible: 'yes', edited: true, replyTo: asked?.id });
    expect(picture).toMatchObject({ attachments: [{ content_type: 'image/png' }] });
    expect(rest).toEqual([]);
  });

  it('uses slash commands with options', async () => {
    const { person, client } = await typist();
    const option = { type: 3, name: 'text', description: 'What' } as const;
    await client.application.commands.create({ name: 'new', description: 'd', options: [option] });
    const used = new Promise((resolve) =>
      client.once('interactionCreate', (command) =>
        resolve(command.isChatInputCommand() && command.options.getString('text')),
      ),
    );
    person.runLine('/new text=with several words');
    expect(await used).toBe('with several words');
  });

  it.each(['!dance', '!press No', '!edit x', '!reply x', '/nothing', '!file /nowhere/a.png'])(
    'explains why the typed line %s fails',
    async (line) => {
      const { person } = await typist();
      expect(() => person.runLine(line)).toThrow();
    },
  );
});
