import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLogger } from '@parley/core';
import { silentRuntime } from '@parley/core/testing';
import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import {
  assertDatabaseNotLost,
  READ_SO_FAR,
  readStoreMark,
  trackStoreMark,
} from './database-mark.ts';
import { notifyOfRollbacks } from './setback-notice.ts';
import { readSettings } from './settings.ts';

const path = mkdtempSync(join(tmpdir(), 'parley-mark-'));
const folder = locateDataFolder(path, {});
const { settings } = readSettings(folder, {});
const database = join(path, 'parley.db');

let store: Store;
let setbacks: number;
const open = async () => {
  const onSetback = () => {
    setbacks += 1;
  };
  const state = { seen: readStoreMark(folder, settings), forget: READ_SO_FAR, onSetback };
  store = await openStore({ url: folder.storeUrl, clock: () => 1_000, state });
};
/** The counter stored in Redis, if Redis is used. */
let remembered: number;
const turns = {
  remember: async (_name: string, number: number) => Math.max(number, remembered),
};
const run = async () => {
  await open();
  return trackStoreMark({ folder, settings, store, turns, log: silentLogger });
};
beforeEach(async () => {
  setbacks = 0;
  remembered = 0;
  const end = await run();
  await end();
  await store.close();
});
afterEach(async () => {
  rmSync(path, { recursive: true });
});

describe('an empty or missing database beside a used data folder', () => {
  it.each([
    ['gone', () => rmSync(database), /is gone.*restore FILE.*database\.json/],
    ['empty', () => truncateSync(database, 0), /is empty \(0 bytes\).*restore FILE/],
  ])('[D01] is reported as an error with advice: %s', (_what, lose, message) => {
    assertDatabaseNotLost(folder, settings);
    lose();
    expect(() => assertDatabaseNotLost(folder, settings)).toThrow(message);
    expect(() => assertDatabaseNotLost(folder, settings)).toThrow(
      expect.objectContaining({ code: 'database-missing' }),
    );
  });

  it('[D01] [U01] is also an error in a data folder of version 0.1.0, but not in a new folder', () => {
    rmSync(folder.databaseMark);
    truncateSync(database, 0);
    assertDatabaseNotLost(folder, settings);
    writeFileSync(folder.sendNotes, '');
    expect(() => assertDatabaseNotLost(folder, settings)).toThrow(/empty/);
    rmSync(database);
    rmSync(folder.sendNotes);
    assertDatabaseNotLost(folder, settings);
    expect(existsSync(database)).toBe(false);
  });
});

describe('a database that is older than its last seen state', () => {
  const setCounter = (counter: number) => {
    const file = new DatabaseSync(database);
    file.exec(`update store_state set counter = ${counter}`);
    file.close();
  };

  it('[D01] is detected at startup from the mark in the data folder', async () => {
    expect(readStoreMark(folder, settings)?.counter).toBeGreaterThan(1);
    setCounter(0);
    const end = await run();
    expect(setbacks).toBe(1);
    await end();
    await store.close();
    const again = await run();
    expect(setbacks).toBe(1);
    await again();
    await store.close();
  });

  it('[D01] [D09] is detected by a process with a new data folder from the counter in Redis', async () => {
    rmSync(folder.databaseMark);
    remembered = 99;
    const end = await run();
    expect(setbacks).toBe(1);
    expect(store.state.seen?.counter).toBeGreaterThan(99);
    await end();
    await store.close();
  });

  it('[D01] [D09] is reported only once when Redis remembers a newer state than the data folder', async () => {
    setCounter(0);
    remembered = 99;
    const end = await run();
    expect(setbacks).toBe(1);
    await end();
    await store.close();
  });

  it('[D01] [H04] is reported to the owner once', async () => {
    setCounter(0);
    const end = await run();
    const place = { channel: 'web', account: 'default' };
    const route = { ...place, chatId: 'c', target: PLAIN };
    const message = { ...place, messageId: 'm', chat: { id: 'c', type: 'direct' as const } };
    const sender = { id: 'o', name: 'Ada', isBot: false };
    const said = { text: 'hello', mentions: [], addressed: true, sentAt: 1, variables: {} };
    await store.inbox.accept({
      conversationId: 'web:c',
      route,
      receivedAt: 1,
      fromOwner: true,
      message: { ...message, sender, ...said },
    });
    const deps = { store, bus: silentRuntime.bus, clock: () => 1_000, folder };
    const texts = async () =>
      (await store.outbox.recent({ ...place, chatId: 'c' }, 9)).map(({ part }) => part.body.plain);
    for (let gateway = 0; gateway < 2; gateway += 1) {
      const stop = notifyOfRollbacks({ ...deps, log: silentLogger }, 5);
      await expect.poll(texts).toEqual([expect.stringContaining('been rolled back')]);
      await stop();
    }
    await end();
    await store.close();
  });
});

const PLAIN = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
