import { createMetrics } from '@parley/core/telemetry';
import { expect, it } from 'vitest';
import { aMessage, IngressScene } from '../testing/ingress-scene.ts';
import { createSkipped } from './skipped.ts';

const REASON = 'more than 300 messages were written here while the bot was away';

it('[D08] says of each missed message that is not handed over why, and counts it, without its text', async () => {
  const scene = new IngressScene();
  await scene.open();
  const { meter, render } = createMetrics();
  const skipped = createSkipped({ store: scene.store, meter, clock: () => scene.now });
  const chat = { id: '-9', type: 'group' } as const;
  const messages = ['7', '8'].map((messageId) => aMessage({ messageId, chat, text: 'a secret' }));
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
