import { createMetrics } from '@parley/core/telemetry';
import { expect, it } from 'vitest';
import { createMessage, IngressScene } from '../testing/ingress-scene.ts';
import { createIgnoredRecorder, createSkippedRecorder } from './skipped.ts';

const REASON = 'more than 300 messages were written here while the bot was away';

it('[D08] records the reason for each missed message that is not passed on, and counts it, without its text', async () => {
  const scene = new IngressScene();
  await scene.open();
  const { meter, render } = createMetrics();
  const skipped = createSkippedRecorder({ store: scene.store, meter, clock: () => scene.now });
  const chat = { id: '-9', type: 'group' } as const;
  const messages = ['7', '8'].map((messageId) =>
    createMessage({ messageId, chat, text: 'a secret' }),
  );
  await skipped(messages, REASON);
  const answers = await Promise.all(
    messages.map(({ messageId }) => scene.store.why.ask({ message: messageId }, scene.now)),
  );
  for (const answer of answers) {
    expect(JSON.stringify(answer)).toContain(REASON);
    expect(JSON.stringify(answer)).not.toContain('a secret');
  }
  const counted = /parley_overflow_total\{[^}]*bound="missed"[^}]*\} 2/;
  expect(render()).toMatch(counted);
  await scene.store.close();
});

it('[F16] [D08] reports why an event from the platform itself did not start a turn', async () => {
  const scene = new IngressScene();
  await scene.open();
  const { meter, render } = createMetrics();
  const account = { channel: 'telegram', account: 'default' };
  const ignored = createIgnoredRecorder(
    { store: scene.store, meter, clock: () => scene.now },
    account,
  );
  const event = { chatId: '-9', messageId: '12', at: scene.now };
  await ignored(event, 'the title of the group was changed');
  const answer = await scene.store.why.ask({ message: '12' }, scene.now);
  expect(JSON.stringify(answer)).toContain('the title of the group was changed');
  expect(render()).toMatch(/parley_ingress_total\{[^}]*outcome="ignored"[^}]*\} 1/);
  await scene.store.close();
});
