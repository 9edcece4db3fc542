import { isFullRun } from '@parley/core/testing';
import { MESSAGE_KINDS } from '@parley/simulators/whatsapp';
import { expect, it } from 'vitest';
import { openScene } from './adapter-scene.ts';

// The protocol has no null: a field is present or absent. Unit tests of the adapter cover fields
// that are null after decoding.
it('[D12] WhatsApp: nothing is missed whichever optional fields of messages are present or absent', async () => {
  const { double, received, states } = await openScene();
  const ann = double.addPerson({ name: 'Ann' });
  const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
  let tried = 0;
  for (const { name, fields, message } of MESSAGE_KINDS) {
    for (const chat of [ann.id, group.jid]) {
      for (const some of [[], fields])
        await double.acts.post({ chat, from: ann.id }, message(some));
    }
    // Groups are omitted because each message costs a signature; a normal run tests every fifth
    // field.
    const single = isFullRun() ? fields : fields.filter(() => tried++ % 5 === 0);
    for (const field of single) await double.acts.post({ chat: ann.id }, message([field]));
    await double.say({ chat: ann.id, text: `still here after ${name}` });
    await double.waitFor(() => received.at(-1)?.text === `still here after ${name}`);
  }
  await double.waitFor(() => double.waiting().length === 0);
  expect(states.map(({ kind }) => kind)).toEqual(['starting', 'connected']);
  expect(received.every(({ sender }) => sender.name === 'Ann')).toBe(true);
  expect(double.transcript.problems).toEqual([]);
}, 120_000);
