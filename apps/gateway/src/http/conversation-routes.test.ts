import { silentLogger } from '@parley/core';
import { createLocalBus } from '@parley/queue';
import type { AdmittedMessage, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { conversationRoutes, searchRoutes } from './conversation-routes.ts';

const PLACE = { channel: 'web', account: 'default' };
const SECRET = 'sk-1234567890';

function message(id: string, text: string): AdmittedMessage {
  return {
    conversationId: 'web:default:c%3A1',
    route: {
      ...PLACE,
      chatId: 'c1',
      target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
    },
    receivedAt: 5,
    message: {
      ...PLACE,
      messageId: id,
      chat: { id: 'c1', type: 'direct' },
      sender: { id: 'u', name: 'Ann', isBot: false },
      text,
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

let store: Store;
const stopped: string[] = [];
beforeEach(async () => {
  stopped.length = 0;
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

function routes() {
  const bus = createLocalBus(silentLogger);
  bus.subscribe((event) => {
    if (event.type === 'stop-turn') stopped.push(event.conversationId);
  });
  const work = {
    ...{ store, bus, clock: () => 9, log: silentLogger, defaultAgent: 'main' },
    scrub: (text: string) => text.replaceAll(SECRET, '[secret]'),
    situation: () => ({ agentName: 'Polly', model: 'm1', models: ['m2'] }),
  };
  return { talks: conversationRoutes(work), search: searchRoutes(work) };
}

const ID = `/${encodeURIComponent('web:default:c%3A1')}`;
const look = (path: string) => routes().talks.request(path);
const act = (body: object, id = ID) =>
  routes().talks.request(id, { method: 'POST', body: JSON.stringify(body) });

describe('conversations over HTTP', () => {
  it('[U08] are listed with their first words, without secrets and kept out of every cache', async () => {
    const long = `${'word '.repeat(22)}${SECRET} and more and more and more and more`;
    await store.inbox.accept(message('1', long));
    const response = await look('/');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = expect.stringMatching(/^(word ){22}\[secret\].*…$/);
    const first = { title: 'Ann', state: 'waiting', waiting: 1, last: { text } };
    expect(await response.json()).toMatchObject({ conversations: [first], next: null });
  });

  it('[U08] are shown one by one, with what was said page by page', async () => {
    for (const id of ['1', '2', '3']) await store.inbox.accept(message(id, `text ${id}`));
    const report = await (await look(ID)).json();
    expect(report).toMatchObject({
      ...{ title: 'Ann', agent: 'Polly', model: null, models: ['m2'], usualModel: 'm1' },
    });
    const page = await (await look(`${ID}/messages?limit=2`)).json();
    expect(page).toMatchObject({ messages: [{ text: 'text 2' }, { text: 'text 3' }] });
    const { next } = z.object({ next: z.string() }).parse(page);
    const older = await (await look(`${ID}/messages?limit=2&before=${next}`)).json();
    expect(older).toMatchObject({ messages: [{ text: 'text 1' }], next: null });
    expect((await look('/nobody')).status).toBe(404);
  });

  it('[F14] say whose they are, in lists and where words are found', async () => {
    const asked = message('1', 'the garden');
    await store.inbox.accept(asked);
    const conversationId = `@support/${asked.conversationId}`;
    await store.inbox.accept({
      ...{ ...asked, conversationId },
      message: { ...asked.message, messageId: '2' },
    });
    const agents = [{ agent: 'support' }, { agent: 'main' }];
    expect(await (await look('/')).json()).toMatchObject({ conversations: agents });
    const found = await routes().search.request('/?q=garden');
    expect(await found.json()).toMatchObject({ hits: agents });
  });

  it('[U08] are searched, and the place is shown without secrets', async () => {
    await store.inbox.accept(message('1', `the key ${SECRET} of the garden`));
    const response = await routes().search.request('/?q=garden');
    expect(await response.json()).toMatchObject({
      hits: [{ excerpt: 'the key [secret] of the garden', title: 'Ann' }],
      next: null,
      missing: 0,
    });
  });

  it.each([
    '/?before=x',
    '/?limit=0',
    '/?limit=51',
    `${ID}/messages?before=9`,
    `${ID}/messages?until=x`,
  ])('[U08] are asked for in a form that is checked: %s', async (path) => {
    expect((await look(path)).status).toBe(400);
  });

  it('[U08] a search wants a text that is not too long', async () => {
    const { search } = routes();
    expect((await search.request('/')).status).toBe(400);
    expect((await search.request(`/?q=${'x'.repeat(201)}`)).status).toBe(400);
  });

  it('[U08] are stopped, started again and given another mode and model', async () => {
    await store.inbox.accept(message('1', 'hello'));
    expect((await act({ action: 'mode', mode: 'ask' })).status).toBe(200);
    expect((await act({ action: 'model', model: 'm2' })).status).toBe(200);
    expect(await (await look(ID)).json()).toMatchObject({ mode: 'ask', model: 'm2', waiting: 1 });
    expect((await act({ action: 'stop' })).status).toBe(200);
    expect(stopped).toEqual(['web:default:c%3A1']);
    expect(await (await look(ID)).json()).toMatchObject({ waiting: 0, state: 'idle' });
    expect((await act({ action: 'new' })).status).toBe(200);
    expect((await act({ action: 'new' }, '/nobody')).status).toBe(404);
  });

  it.each([
    {},
    { action: 'burn' },
    { action: 'mode', mode: 'wild' },
    { action: 'model', model: 'unknown' },
  ])('[U08] are left alone for %j', async (body) => {
    await store.inbox.accept(message('1', 'hello'));
    expect((await act(body)).status).toBe(400);
    expect(await (await look(ID)).json()).toMatchObject({ mode: 'agent', model: null });
  });
});
