import { describe, expect, it } from 'vitest';
import { createEventHub } from './event-hub.ts';
import { WEB } from './front.ts';
import { createStreaming } from './streaming.ts';
import type { WebEvent } from './web-event.ts';

const HERE = { chatId: 'main' };

describe('showing a growing answer', () => {
  it('[F12] shows it in the dialect of the front, with what is unfinished closed', async () => {
    const hub = createEventHub();
    const seen: WebEvent[] = [];
    hub.watch('main', (event) => seen.push(event));
    const streaming = createStreaming(hub, WEB.target, () => 0);
    await streaming.update(HERE, 't1', 'Some **bold');
    await streaming.end(HERE, 't1');
    expect(seen).toEqual([
      { type: 'stream', turnId: 't1', text: '<p>Some <strong>bold</strong></p>' },
      { type: 'stream-end', turnId: 't1' },
    ]);
  });

  it('draws nothing while nobody watches', async () => {
    let looked = 0;
    const clock = () => {
      looked += 1;
      return 0;
    };
    await createStreaming(createEventHub(), WEB.target, clock).update(HERE, 't1', 'text');
    expect(looked).toBe(0);
  });

  it('takes a pause that fits what drawing took, so that long answers leave time for other chats', async () => {
    const hub = createEventHub();
    hub.watch('main', () => undefined);
    let now = 0;
    const clock = () => {
      now += 30;
      return now;
    };
    const startedAt = performance.now();
    await createStreaming(hub, WEB.target, clock).update(HERE, 't1', 'text');
    expect(performance.now() - startedAt).toBeGreaterThan(200);
  });
});
