import { ParleyError } from '@parley/core';
import { describe, expect, it, vi } from 'vitest';
import { readEvents, webFront } from './testing/web-front.ts';

const ID = 'message-0001';
const BUTTONS = [{ label: 'Approve', data: '/approve ABC234' }];
const accepted = () => ({ kind: 'accepted' as const, conversationId: 'c' });

describe('a message from the page', () => {
  it('[F01] reaches ingress as text of the owner, in the one direct chat', async () => {
    const { post, received } = webFront(accepted);
    const response = await post({ id: ID, text: 'hello' });
    expect(await response.json()).toMatchObject({ outcome: { kind: 'accepted' } });
    expect(received[0]).toMatchObject({
      channel: 'web',
      account: 'default',
      messageId: ID,
      chat: { id: 'main', type: 'direct' },
      sender: { id: 'owner', isBot: false },
      text: 'hello',
      addressed: true,
    });
  });

  it('[F03] is published to every open page, once, with the time before it was stored', async () => {
    const { ask, post } = webFront(accepted);
    const pages = [await ask('/events'), await ask('/events')];
    const before = Date.now();
    await post({ id: ID, text: 'hello' });
    for (const page of pages) {
      const [alive, event] = await readEvents(page, 2);
      expect(alive).toEqual({ type: 'alive' });
      expect(event).toMatchObject({ type: 'inbound', messageId: ID, text: 'hello' });
      expect(event?.at).toBeGreaterThanOrEqual(before);
    }
  });

  it('[D01] is not published again when it is a duplicate', async () => {
    const { ask, post, adapter } = webFront(() => ({ kind: 'duplicate' }));
    const page = await ask('/events');
    expect(await (await post({ id: ID, text: 'hello' })).json()).toMatchObject({
      outcome: { kind: 'duplicate' },
    });
    await adapter.typing?.show({ chatId: 'main' });
    expect(await readEvents(page, 2)).toEqual([{ type: 'alive' }, { type: 'typing' }]);
  });

  it('[D01] is not confirmed when it could not be stored, and may be sent again', async () => {
    const { post } = webFront(() => {
      throw new ParleyError({ code: 'store-busy', message: 'disk full', retryable: true });
    });
    const response = await post({ id: ID, text: 'hello' });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('disk full');
  });

  it.each<[string, unknown]>([
    ['no id', { text: 'x' }],
    ['a short id', { id: 'x', text: 'x' }],
    ['an id with spaces', { id: 'not an id at all', text: 'x' }],
    ['no text', { id: ID }],
    ['more than id and text', { id: ID, text: 'x', sender: 'somebody' }],
    ['something else', 'hello'],
  ])('is refused with %s, and the answer says what is wrong', async (_case, message) => {
    const { post, received } = webFront(accepted);
    const response = await post(message);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.any(String) });
    expect(received).toEqual([]);
  });

  it('is refused when it is not UTF-8: replacing bytes would change what was said', async () => {
    const { ask } = webFront(accepted);
    const body = new Uint8Array([...new TextEncoder().encode('{"id":"'), 0xff, 0xfe]);
    const response = await ask('/messages', { method: 'POST', body });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'The message is not valid UTF-8.' },
    ]);
  });

  it.each(['with its length', 'without a length'])(
    '[D07] is refused beyond 4 MB, sent %s, without being read to its end',
    async (how) => {
      const { ask } = webFront(accepted);
      let pulled = 0;
      const endless = new ReadableStream({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(100_000));
        },
      });
      const init: RequestInit & { duplex: 'half' } =
        how === 'with its length'
          ? { body: 'x', headers: { 'content-length': '5000000' }, duplex: 'half' }
          : { body: endless, duplex: 'half' };
      const response = await ask('/messages', { method: 'POST', ...init });
      expect(response.status).toBe(413);
      expect(pulled).toBeLessThan(60);
    },
  );
});

describe('the events', () => {
  it('are not started for a question about their headers', async () => {
    const { ask, adapter } = webFront(accepted);
    const response = await ask('/events', { method: 'HEAD' });
    expect([response.status, response.body]).toEqual([200, null]);
    await adapter.stop();
  });
});

describe('a part with buttons', () => {
  it('[F04] [G05] comes to the page with them, as the page declares', async () => {
    const { adapter, ask } = webFront(accepted);
    expect(adapter.capabilities.buttons).toBe(true);
    const page = await ask('/events');
    await adapter.send(
      {
        id: 'p1',
        idempotencyKey: 'k1',
        turnId: null,
        index: null,
        route: {
          channel: 'web',
          account: 'default',
          chatId: 'main',
          target: adapter.capabilities.target,
        },
        body: { text: '<p>May I?</p>', plain: 'May I?' },
        buttons: BUTTONS,
      },
      new AbortController().signal,
    );
    const [, part] = await readEvents(page, 2);
    expect(part).toMatchObject({ type: 'part', partId: 'p1', buttons: BUTTONS });
  });
});

describe('the history', () => {
  it('[F03] has the same ids as the events, and the commands there are', async () => {
    const { ask } = webFront(accepted, [
      { kind: 'inbound', messageId: 'm1', text: 'hi', at: 1, outcome: 'answered' },
      {
        kind: 'outbound',
        partId: 'p1',
        turnId: 't1',
        body: { text: '<p>ho</p>', plain: 'ho' },
        buttons: BUTTONS,
        at: 2,
      },
    ]);
    expect(await (await ask('/history')).json()).toEqual({
      entries: [
        { type: 'inbound', messageId: 'm1', text: 'hi', at: 1, outcome: 'answered' },
        { type: 'part', partId: 'p1', turnId: 't1', text: '<p>ho</p>', buttons: BUTTONS, at: 2 },
      ],
      commands: expect.arrayContaining([{ name: 'stop', summary: expect.any(String) }]),
    });
  });
});

describe('the end of the gateway', () => {
  it('[D11] waits for a message that is being stored, and ends the open pages', async () => {
    const { promise: storing, resolve: stored } = Promise.withResolvers<void>();
    const { ask, post, adapter, received } = webFront(async () => {
      await storing;
      return accepted();
    });
    const page = await ask('/events');
    const posting = post({ id: ID, text: 'hello' });
    await vi.waitFor(() => expect(received).toHaveLength(1), 30_000);
    let stopped = false;
    const stopping = adapter.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(stopped).toBe(false);
    stored();
    expect((await posting).status).toBe(200);
    await stopping;
    expect(await readEvents(page, 99)).toEqual([{ type: 'alive' }]);
  });

  it('[D11] takes nothing after it, so that the page sends it to the next one', async () => {
    const { ask, post, adapter, received } = webFront(accepted);
    await adapter.stop();
    expect((await post({ id: ID, text: 'hello' })).status).toBe(503);
    expect((await ask('/events')).status).toBe(503);
    expect(received).toEqual([]);
  });
});
