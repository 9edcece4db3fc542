import { OPTIONAL } from '@parley/simulators/telegram';
import { afterEach, expect, it } from 'vitest';
import { endScenes, scene } from './adapter-scene.ts';

afterEach(endScenes);

it.each(OPTIONAL)(
  '[D12] Telegram: nothing is missed when optional fields are %s',
  async (optional) => {
    const { double, adapter, received, revised, logged } = await scene({ double: { optional } });
    await adapter.start();
    const said = double.say({ chat: 1001, text: 'alone' });
    double.say({ chat: -1_001_234_567_890, from: 1002, text: 'in a group', replyTo: undefined });
    const file = { kind: 'document', name: 'a.txt', bytes: Buffer.from('a') } as const;
    double.say({ chat: 1001, text: 'a file', file });
    double.reword(1001, said.message_id, 'said again');
    await double.waitFor(() => received.length >= 3 && revised.length > 0);
    expect(received.map(({ chat }) => chat.type)).toEqual(['direct', 'group', 'direct']);
    expect(received.map(({ sender }) => sender.isBot)).toEqual([false, false, false]);
    expect(received.at(-1)?.attachments).toHaveLength(1);
    expect(logged.join()).not.toContain('not understood');
  },
);
