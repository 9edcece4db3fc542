import { type InboundMessage, type Logger, ParleyError, systemTime } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it, vi } from 'vitest';
import type { ChannelAdapter, IngressOutcome } from '../adapter.ts';
import { COMMANDS } from '../commands/list.ts';
import type { HistoryEntry } from '../shown-chats.ts';
import { createWebAdapter } from './adapter.ts';
import { createEventHub, createEventStream } from './events.ts';
import { WEB } from './front.ts';

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

/** A web front end on top of an ingress that a test controls. */
interface WebFrontScene {
  readonly adapter: ChannelAdapter;
  readonly received: InboundMessage[];
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a message as the page does. */
  post(message: unknown): Promise<Response>;
}

/**
 * Creates a front end; `receive` returns the outcome of a message, `history` the earlier messages.
 */
function webFront(
  receive: (message: InboundMessage) => Promise<IngressOutcome> | IngressOutcome,
  history: readonly HistoryEntry[] = [],
): WebFrontScene {
  const received: InboundMessage[] = [];
  const context = {
    account: 'default',
    settings: {},
    log: silent,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    holdsAccount: () => true,
    revise: () => Promise.resolve(),
    reacted: async () => {},
    message: async () => null,
    commands: COMMANDS,
    values: createInMemoryAdapterValues(),
    receive: async (message: InboundMessage) => {
      received.push(message);
      return receive(message);
    },
    report: () => undefined,
    skipped: async () => {},
    ignored: async () => {},
    notifyOwner: async () => {},
    history: async () => history,
  };
  const adapter = createWebAdapter(context, WEB);
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    if (!adapter.http) throw new Error('The web front has lost its routes.');
    return adapter.http.fetch(new Request(`http://127.0.0.1/channels/web/default${path}`, init));
  };
  const post = (message: unknown) =>
    ask('/messages', { method: 'POST', body: JSON.stringify(message) });
  return { adapter, received, ask, post };
}

/** Reads server-sent events until `count` have arrived; keep-alive comments count as well. */
async function readEvents(response: Response, count: number): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) events.push(JSON.parse(block.replace(/^data: /, '')));
    if (events.length >= count) break;
  }
  return events;
}

const ID = 'message-0001';
const BUTTONS = [{ label: 'Approve', data: '/approve ABC234' }];
const accepted = () => ({ kind: 'accepted' as const, conversationId: 'c' });

describe('a message from the page', () => {
  it("[F01] reaches ingress as the owner's text, in the main direct chat", async () => {
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

  it('[F03] is published to every open page, once, with a time from before it was stored', async () => {
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

  it('[G23] may quote an entry, and reports when a command has rewound the history', async () => {
    const { adapter, received, ask, post } = webFront(({ text }) => ({
      ...{ kind: 'command', name: text === '/rewind' ? 'rewind' : 'status' },
    }));
    await adapter.start();
    const stream = await ask('/events');
    await post({ id: 'message-1', text: '/status' });
    await post({ id: 'message-2', text: '/rewind', quotes: 'part-0001' });
    expect(received.map(({ replyTo }) => replyTo)).toEqual([undefined, { messageId: 'part-0001' }]);
    const events = await readEvents(stream, 4);
    expect(events.map(({ type }) => type)).toEqual(['alive', 'inbound', 'inbound', 'rewound']);
  });

  it('[U08] is published with the ids of the entries it replaces, and so is its receipt', async () => {
    const { ask, post, received } = webFront(() => ({
      kind: 'accepted',
      conversationId: 'c',
      replaced: ['m1', 'p1'],
    }));
    const page = await ask('/events');
    const response = await post({ id: ID, text: 'hello', replaces: 'message-1' });
    expect(await response.json()).toMatchObject({ outcome: { replaced: ['m1', 'p1'] } });
    expect(received[0]?.replaces).toBe('message-1');
    const events = await readEvents(page, 4);
    expect(events.slice(2)).toEqual(['m1', 'p1'].map((id) => ({ type: 'replaced', id })));
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

  it('[D01] is not confirmed when it could not be stored, so that the page can send it again', async () => {
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
  ])('is refused with %s, and the response explains the problem', async (_case, message) => {
    const { post, received } = webFront(accepted);
    const response = await post(message);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.any(String) });
    expect(received).toEqual([]);
  });

  it('is refused when it is not UTF-8, because replacing bytes would change the message', async () => {
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

describe('the event stream', () => {
  it('is not started for a HEAD request', async () => {
    const { ask, adapter } = webFront(accepted);
    const response = await ask('/events', { method: 'HEAD' });
    expect([response.status, response.body]).toEqual([200, null]);
    await adapter.stop();
  });
});

describe('a message part with buttons', () => {
  it('[F04] [G05] keeps its buttons on the page, as the front end declares', async () => {
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
  it('[F03] has the same ids as the events, and the available commands', async () => {
    const { ask } = webFront(accepted, [
      { kind: 'inbound', messageId: 'm1', text: 'hi', at: 1, outcome: 'answered', turnId: 't1' },
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
        { type: 'inbound', messageId: 'm1', text: 'hi', at: 1, outcome: 'answered', turnId: 't1' },
        { type: 'part', partId: 'p1', turnId: 't1', text: '<p>ho</p>', buttons: BUTTONS, at: 2 },
      ],
      commands: expect.arrayContaining([{ name: 'stop', summary: expect.any(String) }]),
    });
  });
});

describe('shutting down the gateway', () => {
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

  it('[D11] refuses messages afterwards, so that the page sends them to the next gateway', async () => {
    const { ask, post, adapter, received } = webFront(accepted);
    await adapter.stop();
    expect((await post({ id: ID, text: 'hello' })).status).toBe(503);
    expect((await ask('/events')).status).toBe(503);
    expect(received).toEqual([]);
  });
});

function scene() {
  const hub = createEventHub();
  const closing = new AbortController();
  const open = () => createEventStream({ hub, chatId: 'main', closing: closing.signal });
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

describe('live events for a page', () => {
  it('reach only the viewers of the chat', async () => {
    const { hub, open } = scene();
    const page = open();
    hub.publish('other', { type: 'typing' });
    hub.publish('main', stream(1));
    expect(await readEvents(page, 2)).toEqual([{ type: 'alive' }, stream(1)]);
  });

  it('omit unfinished answers for a slow page, but never finished answers', async () => {
    const { hub, open } = scene();
    const page = open();
    for (let piece = 0; piece < 50; piece += 1) hub.publish('main', stream(100_000));
    hub.publish('main', part('p1', 100_000));
    const events = await readEvents(page, 5);
    expect(events.length).toBeLessThan(7);
    expect(events.at(-1)).toMatchObject({ type: 'part', partId: 'p1' });
  });

  it('disconnect a page that stops reading, so that memory stays bounded', async () => {
    const { hub, open } = scene();
    const page = open();
    for (let turn = 0; turn < 200; turn += 1) hub.publish('main', part(`p${turn}`, 500_000));
    expect(hub.isWatched('main')).toBe(false);
    const bytes = (await page.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(8_000_000);
    expect(bytes).toBeLessThan(10_000_000);
  });

  it('remove a page from the viewers when it disconnects', async () => {
    const { hub, open } = scene();
    const page = open();
    expect(hub.isWatched('main')).toBe(true);
    await page.body?.cancel();
    expect(hub.isWatched('main')).toBe(false);
    hub.publish('main', { type: 'typing' });
  });

  it('[D11] end with the gateway', async () => {
    const { closing, hub, open } = scene();
    const pages = [open(), open()];
    closing.abort();
    for (const page of pages) expect(await page.text()).toContain('alive');
    expect(hub.isWatched('main')).toBe(false);
  });
});
