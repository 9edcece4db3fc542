import { createPrefixRenderer } from '@parley/markup';
import { describe, expect, it } from 'vitest';
import { createStreamingCapability } from './adapter.ts';
import { createEventHub, type WebEvent } from './events.ts';
import { TERMINAL, WEB, type WebFrontEnd } from './front.ts';

const HERE = { chatId: 'main' };

/** A test scene: a watched chat of a front end in which an answer grows. */
function scene({ target }: WebFrontEnd) {
  const hub = createEventHub();
  const seen: WebEvent[] = [];
  const leave = hub.watch('main', (event) => seen.push(event));
  const streaming = createStreamingCapability(hub, target);
  const maxLength = streaming.maxLength ?? target.maxLength;
  const answer = createPrefixRenderer({ ...target, maxLength });
  const last = () => {
    const event = seen.at(-1);
    return event?.type === 'stream' ? event.text : undefined;
  };
  return { hub, streaming, answer, seen, last, leave };
}

describe('previews of a growing answer on a front end', () => {
  it("[F12] use the front end's dialect and close unfinished markup", async () => {
    const { streaming, answer, seen } = scene(WEB);
    answer.push('Some **bold');
    await streaming.update(HERE, 't1', answer);
    await streaming.end(HERE, 't1', 'answer');
    expect(seen).toEqual([
      { type: 'stream', turnId: 't1', text: '<p>Some <strong>bold</strong></p>' },
      { type: 'stream-end', turnId: 't1' },
    ]);
  });

  it.each([
    ['web page', WEB],
    ['terminal', TERMINAL],
  ])('[F12] contain all of a long answer on the %s each time', async (_, front) => {
    const { streaming, answer, last } = scene(front);
    for (let count = 0; count < 1_000; count += 1) {
      answer.push(`Paragraph ${count}.\n\n`);
      if (count % 100 === 99) await streaming.update(HERE, 't1', answer);
    }
    const numbers = Array.from({ length: 1_000 }, (_, index) => String(index));
    expect(last()?.match(/\d+/g)).toEqual(numbers);
  });

  it('[F12] show late viewers the text so far, until its part is sent or the turn ends', async () => {
    const { hub, streaming, answer, last } = scene(WEB);
    const seenLater = (): readonly WebEvent[] => {
      const later: WebEvent[] = [];
      hub.watch('main', (event) => later.push(event))();
      return later;
    };
    answer.push('begun');
    await streaming.update(HERE, 't1', answer);
    expect(seenLater()).toEqual([{ type: 'stream', turnId: 't1', text: last() }]);
    const sent = { partId: 'p1', turnId: 't1', text: 'begun', at: 0 };
    hub.publish('main', { type: 'part', ...sent });
    expect(seenLater()).toEqual([]);
    await streaming.update(HERE, 't2', answer);
    hub.publish('main', { type: 'part', ...sent, partId: 'p2' });
    expect(seenLater()).toHaveLength(1);
    await streaming.end(HERE, 't2', 'answer');
    expect(seenLater()).toEqual([]);
  });

  it('are not rendered without viewers, and contain the whole text for late viewers', async () => {
    const { hub, streaming, answer, seen, leave } = scene(WEB);
    leave();
    const looks: string[] = [];
    const watched = {
      show: () => {
        looks.push('looked');
        return answer.show();
      },
    };
    answer.push('one ');
    await streaming.update(HERE, 't1', watched);
    expect({ seen, looks }).toEqual({ seen: [], looks: [] });
    hub.watch('main', (event) => seen.push(event));
    answer.push('two');
    await streaming.update(HERE, 't1', watched);
    expect(seen).toEqual([{ type: 'stream', turnId: 't1', text: '<p>one two</p>' }]);
  });
});
