import type { AdmittedMessage, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetterOrder, DeadLetterService } from '../dead-letters.ts';
import { deadRoutes } from './api-routes.ts';
import { queueRoutes } from './work-routes.ts';

const orders: DeadLetterOrder[] = [];
const asked: object[] = [];
const DESK: DeadLetterService = {
  async list(page) {
    asked.push(page);
    return { letters: [], counts: { refused: 0, uncertain: 0, unanswered: 0 }, next: null };
  },
  letter: async () => null,
  async settle(order) {
    orders.push(order);
    return { results: [], next: null };
  },
};
const askService = (path: string, body?: string) =>
  deadRoutes(DESK).request(path, body === undefined ? {} : { method: 'POST', body });

describe('dead letters over HTTP', () => {
  it.each([
    ['/', { before: undefined, limit: 50 }],
    ['/?limit=5&before=9', { before: 9, limit: 5 }],
    ['/?limit=0&before=x', { before: undefined, limit: 1 }],
    ['/?limit=9999', { before: undefined, limit: 50 }],
  ])('[D06] [U03] are listed in bounded pages: %s', async (path, page) => {
    const response = await askService(path);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ letters: [] });
    expect(asked.at(-1)).toEqual(page);
  });

  it.each(['/9', '/x', '/-1'])('[D06] are none at %s', async (path) => {
    expect(await (await askService(path)).json()).toEqual({ letter: null });
  });

  it('[D06] are settled as posted', async () => {
    expect((await askService('/', '{"action":"replay","letters":[3]}')).status).toBe(200);
    expect(orders.at(-1)).toEqual({ action: 'replay', letters: [3], evenTwice: false });
    await askService('/', '{"action":"drop","letters":{"after":0,"kinds":["refused"]}}');
    expect(orders.at(-1)).toMatchObject({ letters: { after: 0, kinds: ['refused'] } });
  });

  it.each([
    '',
    '{}',
    '[]',
    '{"action":"burn","letters":[1]}',
    '{"action":"drop"}',
    '{"action":"drop","letters":[]}',
    '{"action":"drop","letters":["1"]}',
    '{"action":"drop","letters":{"after":0,"kinds":[]}}',
    '{"action":"replay","letters":[1],"evenTwice":"yes"}',
  ])('[D06] are left alone for %j', async (body) => {
    const before = orders.length;
    expect((await askService('/', body)).status).toBe(400);
    expect(orders).toHaveLength(before);
  });
});

const PLACE = { channel: 'web', account: 'default' };
const MESSAGE: AdmittedMessage = {
  conversationId: 'web:c1',
  route: {
    ...PLACE,
    chatId: 'c1',
    target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
  },
  receivedAt: 0,
  message: {
    ...PLACE,
    messageId: 'm1',
    chat: { id: 'c1', type: 'direct' },
    sender: { id: 'u', name: 'Ann', isBot: false },
    text: 'hi',
    mentions: [],
    addressed: true,
    sentAt: 0,
    variables: {},
  },
};
const WORKER = {
  id: 'p1',
  role: 'worker',
  host: 'box',
  pid: 7,
  version: '1',
  startedAt: 0,
} as const;

let store: Store;
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => 0 });
});
afterEach(() => store.close());

const askQueue = () => queueRoutes(store, () => 9).request('/');
async function runTurnBy(owner: string): Promise<void> {
  await store.inbox.accept(MESSAGE);
  const work = { conversationId: 'web:c1', owner, leaseMs: 5 };
  await store.lanes.begin(work, 'collect', 't1', 0);
}

describe('the queue over HTTP', () => {
  it('[U03] shows what waits, runs and is to be sent, and is kept out of every cache', async () => {
    const response = await askQueue();
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      now: 9,
      messages: 0,
      waiting: [],
      parts: { pending: 0 },
      dead: { refused: 0 },
      processes: [],
    });
  });

  it('[U03] names the process that works on a turn', async () => {
    await runTurnBy('p1');
    expect(await (await askQueue()).json()).toMatchObject({ running: [{ owner: 'this process' }] });
    await store.processes.heartbeat({ ...WORKER, address: 'http://box:1' });
    expect(await (await askQueue()).json()).toMatchObject({
      running: [{ owner: 'process 7 on box' }],
      processes: [{ role: 'worker', host: 'box', pid: 7 }],
    });
  });

  it('[U03] says so when that process is gone', async () => {
    await runTurnBy('p0');
    await store.processes.heartbeat({ ...WORKER, address: 'http://box:1' });
    expect(await (await askQueue()).json()).toMatchObject({
      running: [{ owner: 'a process that is gone' }],
    });
  });
});
