import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/core';
import { openStore, type Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeMessage } from '../testing/write-message.ts';
import { type MemoryAsker, type MemoryCommands, memoryCommands } from './memory-commands.ts';
import { MemoryService } from './memory-service.ts';

const ADA: Omit<MemoryAsker, 'messageId'> = {
  person: 'web:ada',
  reader: { kind: 'owner', conversationId: 'web:default:ada' },
  isGroup: false,
};
const MINUTE = 60_000;

let folder: string;
let store: Store;
let now = 0;
let stopped: string[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-memory-'));
  store = await openStore({ url: 'sqlite::memory:', clock: () => now });
  now = 1_000_000;
  stopped = [];
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The commands of another gateway on the same database. */
async function openCommands(person = ADA.person): Promise<MemoryCommands> {
  const templates = join(import.meta.dirname, '../../../../config/workspace');
  const workspace = await openWorkspace({ folder, templates });
  const service = new MemoryService({ index: store.memories, log: silentLogger });
  const view = workspace.for(ADA.reader);
  await view.write('memory/project.md', '- The boat is green.');
  const asked = store.adapterValues('parley', 'forget');
  const accountsOf = async () => [person];
  const stopTurn = (lane: string) => void stopped.push(lane);
  return memoryCommands({
    service,
    workspace,
    store,
    accountsOf,
    asked,
    clock: () => now,
    stopTurn,
  });
}

describe('/forget all', () => {
  it('[G15] [D09] takes a second one as confirmation, whichever gateway receives it', async () => {
    const [one, two] = [await openCommands(), await openCommands()];
    expect(await one.forget({ ...ADA, messageId: 'm1' }, 'all')).toContain('once more');
    expect(await two.forget({ ...ADA, messageId: 'm2' }, 'all')).toContain('Forgotten');
  });

  it('[G15] leaves nothing of what was said, stops what runs, and says that it looked', async () => {
    const said = { messageId: 'a1', text: 'the quetzal is mine alone', now };
    const chat = { id: 'ada', type: 'direct' } as const;
    await writeMessage(store, said, { chat, sender: { id: 'ada', name: 'Ada', isBot: false } });
    const taken = await store.lanes.acquire('ada', 'w', now, 9_000);
    if (taken.kind !== 'held') throw new Error('the lane is busy');
    await store.lanes.claim(taken.lease, 'collect', 't', now);
    const commands = await openCommands('test:ada');
    const ada = { ...ADA, person: 'test:ada' };
    await commands.forget({ ...ada, messageId: 'm1' }, 'all');
    expect(stopped).toEqual([]);
    const proof = await commands.forget({ ...ada, messageId: 'm2' }, 'all');
    expect(proof).toContain('1 message of yours in 1 chat');
    expect(proof).toContain('I cannot take back what the platform');
    expect(stopped).toEqual(['ada']);
    const rows = await store.inbox.recent(
      { channel: 'test', account: 'default', chatId: 'ada' },
      9,
    );
    expect(JSON.stringify(rows)).not.toContain('quetzal');
  });

  it('[G15] takes neither the same message, nor one of another person, nor a late one as confirmation', async () => {
    const commands = await openCommands();
    await commands.forget({ ...ADA, messageId: 'm1' }, 'all');
    expect(await commands.forget({ ...ADA, messageId: 'm1' }, 'all')).toContain('once more');
    const bob = { ...ADA, person: 'web:bob', messageId: 'm2' };
    expect(await commands.forget(bob, 'all')).toContain('once more');
    now += 11 * MINUTE;
    expect(await commands.forget({ ...ADA, messageId: 'm3' }, 'all')).toContain('once more');
  });
});
