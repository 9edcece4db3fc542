import type { AdmittedMessage, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queueRoutes } from './work-routes.ts';

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
