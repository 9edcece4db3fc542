import { memoryValues } from '@parley/core';
import { OPTIONAL } from '@parley/simulators/discord';
import { afterEach, expect, it } from 'vitest';
import { ANN, endScenes, scene } from './adapter-scene.ts';

afterEach(endScenes);

it.each(OPTIONAL)(
  '[D12] Discord: nothing is missed when optional fields are %s',
  async (optional) => {
    const values = memoryValues();
    const before = await scene({ values, double: { optional } });
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
    await double.waitFor(() => before.revised.length > 0 || optional !== 'present');
    await before.adapter.stop();
    double.say({ channel: double.channelId, from: ANN, text: 'missed' });
    double.say({ channel: dm, text: 'missed, alone' });
    const after = await scene({ values, on: double });
    await after.connect();
    await after.hears(2);
    const heard = [...before.received, ...after.received].map(({ text }) => text).sort();
    expect(heard).toEqual(['alone', 'hi', 'in a thread', 'missed', 'missed, alone']);
    expect([...before.logged, ...after.logged].join()).not.toContain('not understood');
  },
);
