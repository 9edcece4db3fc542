import type { Role } from '@parley/core';
import type { AdmittedMessage, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from './queue-operations.ts';

const PLACE = { channel: 'web', account: 'default' };
const MESSAGE: AdmittedMessage = {
  conversationId: 'web:default:c1',
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

const askQueue = (role: Role = 'owner') =>
  operations.report.run({ store, clock: () => 9 }, {}, { caller: { name: 'Ann', role } });
async function runTurnBy(owner: string): Promise<void> {
  await store.inbox.accept(MESSAGE);
  const work = { conversationId: 'web:default:c1', owner, leaseMs: 5 };
  await store.lanes.begin(work, 'collect', 't1', 0);
}

describe('the queue', () => {
  it('[U03] shows what is waiting, running and due to be sent', async () => {
    expect(await askQueue()).toMatchObject({
      now: 9,
      messages: 0,
      waiting: [],
      parts: { pending: 0 },
      dead: { refused: 0 },
      processes: [],
    });
  });

  it('[U03] shows which process works on a turn', async () => {
    await runTurnBy('p1');
    expect(await askQueue()).toMatchObject({ running: [{ owner: 'this process' }] });
    await store.processes.heartbeat({ ...WORKER, address: 'http://box:1' });
    expect(await askQueue()).toMatchObject({
      running: [{ owner: 'process 7 on box' }],
      processes: [{ role: 'worker', host: 'box', pid: 7 }],
    });
  });

  it('[U03] shows chats only to owners', async () => {
    await runTurnBy('p1');
    const shown = JSON.stringify(await askQueue('operator'));
    expect(JSON.stringify(await askQueue())).toContain('web:default:c1');
    expect(shown).toContain('this process');
    expect(shown).not.toContain('c1"');
  });

  it('[U03] reports that the process is no longer running', async () => {
    await runTurnBy('p0');
    await store.processes.heartbeat({ ...WORKER, address: 'http://box:1' });
    expect(await askQueue()).toMatchObject({
      running: [{ owner: 'a process that is no longer running' }],
    });
  });
});
