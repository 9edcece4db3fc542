import { createInMemoryAdapterValues } from '@parley/core/testing';
import { OPTIONAL } from '@parley/simulators/discord';
import { afterEach, expect, it } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import { ANN, createPart, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

it.each(OPTIONAL)(
  '[D12] Discord: nothing is missed when optional fields are %s',
  async (optional) => {
    const values = createInMemoryAdapterValues();
    const commands = [{ name: 'status', summary: 'how I am', private: true as const }];
    const before = await startDiscordScene({ values, commands, double: { optional } });
    const { double } = before;
    await before.connect();
    const dm = double.dmWith(ANN);
    const thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('a') };
    double.say({ channel: dm, text: 'alone', files: [file] });
    const said = double.say({
      channel: double.channelId,
      from: ANN,
      text: `<@${double.me.id}> hi`,
    });
    double.say({ channel: thread, from: ANN, text: 'in a thread' });
    double.reword(double.channelId, said.id, 'hi again');
    await before.hears(3);
    const { id: message } = said;
    double.react({ channel: double.channelId, message, from: ANN, emoji: '👍' });
    double.react({
      channel: dm,
      message: double.conversation(dm)[0]?.id ?? '',
      from: ANN,
      emoji: '👍',
    });
    await double.waitFor(() => before.reactions.length === 2);
    const buttons = [{ label: 'Yes', data: '/status' }];
    const question = createPart(double.channelId, 'May I?', { buttons });
    const { platformMessageId } = await before.adapter.send(question, noSignal());
    double.press({
      channel: double.channelId,
      from: ANN,
      message: platformMessageId,
      customId: '0:/status',
    });
    await double.waitFor(() => double.calls('PUT /applications/').length > 0);
    const slash = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
    await before.hears(5);
    await before.answers(slash, 'I am well');
    expect(double.interaction(slash).ephemeral).toMatchObject([{ visible: 'I am well' }]);
    await double.waitFor(() => before.revised.length > 0 || optional !== 'present');
    await before.adapter.stop();
    double.say({ channel: double.channelId, from: ANN, text: 'missed' });
    double.say({ channel: dm, text: 'missed, alone' });
    const after = await startDiscordScene({ values, on: double });
    await after.connect();
    await after.hears(2);
    const heard = [...before.received, ...after.received].map(({ text }) => text).sort();
    expect(heard).toEqual([
      '/status',
      '/status',
      'alone',
      'hi',
      'in a thread',
      'missed',
      'missed, alone',
    ]);
    expect([...before.logged, ...after.logged].join()).not.toContain('not understood');
  },
);
