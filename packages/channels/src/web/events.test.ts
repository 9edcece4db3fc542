import { describe, expect, it } from 'vitest';
import { createEventHub, eventStream } from './events.ts';
import { readEvents } from './testing/web-front.ts';

function scene() {
  const hub = createEventHub();
  const closing = new AbortController();
  const open = () => eventStream({ hub, chatId: 'main', closing: closing.signal });
  return { hub, closing, open };
}
const stream = (size: number) => ({ type: 'stream' as const, turnId: 't', text: 'x'.repeat(size) });
const part = (partId: string, size: number) => ({
  type: 'part' as const,
  partId,
  turnId: 't',
  text: 'x'.repeat(size),
  at: 1,
});

describe('live events of a page', () => {
  it('reach every watcher of the chat and nobody else', async () => {
    const { hub, open } = scene();
    const page = open();
    hub.publish('other', { type: 'typing' });
    hub.publish('main', stream(1));
    expect(await readEvents(page, 2)).toEqual([{ type: 'alive' }, stream(1)]);
  });

  it('a page that reads slowly is spared unfinished answers, never finished ones', async () => {
    const { hub, open } = scene();
    const page = open();
    for (let piece = 0; piece < 50; piece += 1) hub.publish('main', stream(100_000));
    hub.publish('main', part('p1', 100_000));
    const events = await readEvents(page, 5);
    expect(events.length).toBeLessThan(7);
    expect(events.at(-1)).toMatchObject({ type: 'part', partId: 'p1' });
  });

  it('a page that does not read at all is let go, so that memory stays bounded', async () => {
    const { hub, open } = scene();
    const page = open();
    for (let turn = 0; turn < 200; turn += 1) hub.publish('main', part(`p${turn}`, 500_000));
    expect(hub.isWatched('main')).toBe(false);
    const bytes = (await page.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(8_000_000);
    expect(bytes).toBeLessThan(10_000_000);
  });

  it('a page that goes is not watched for any longer', async () => {
    const { hub, open } = scene();
    const page = open();
    expect(hub.isWatched('main')).toBe(true);
    await page.body?.cancel();
    expect(hub.isWatched('main')).toBe(false);
    hub.publish('main', { type: 'typing' });
  });

  it('[D11] every stream ends with the gateway', async () => {
    const { closing, hub, open } = scene();
    const pages = [open(), open()];
    closing.abort();
    for (const page of pages) expect(await page.text()).toContain('alive');
    expect(hub.isWatched('main')).toBe(false);
  });
});
