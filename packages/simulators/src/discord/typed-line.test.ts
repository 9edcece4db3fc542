import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Typist } from './control.ts';
import { endStages, stage } from './discord-client.ts';

afterEach(endStages);

const typist = async () => {
  const scene = await stage();
  return { ...scene, person: new Typist(scene.double) };
};
const BUTTONS = [
  { type: 1, components: [{ type: 2, style: 2, label: 'Yes', custom_id: '0:/yes' }] },
] as const;

describe('[U04] typing to the bot by hand', () => {
  it('writes directly, in the channel and in a thread', async () => {
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

  it('sends files, answers, presses, reacts, edits and deletes', async () => {
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

  it('uses slash commands with their options', async () => {
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
    'says why %s fails',
    async (line) => {
      const { person } = await typist();
      expect(() => person.runLine(line)).toThrow();
    },
  );
});
