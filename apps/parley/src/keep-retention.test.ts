import { silentLogger } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { AdmittedMessage, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { startRetention } from './keep-retention.ts';
import { readSettings } from './settings.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const YEAR = 365 * DAY;
const START = 1_000 * DAY;

let store: Store;
/** The machine's clock (which may jump), and the time that has really elapsed. */
let now: number;
let ticks: number;
let messages: number;
beforeEach(async () => {
  now = START;
  ticks = 0;
  messages = 0;
  store = await openMemoryStore({ clock: () => now });
});
afterEach(() => store.close());

async function say(): Promise<void> {
  messages += 1;
  const place = { channel: 'web', account: 'default' };
  const message: AdmittedMessage = {
    conversationId: 'web:c1',
    route: { ...place, chatId: 'c1', target: { dialect: 'plain', maxLength: 4096, unit: 'utf16' } },
    receivedAt: now,
    message: {
      ...place,
      messageId: `m${messages}`,
      chat: { id: 'c1', type: 'direct' },
      sender: { id: 'u1', name: 'Ada', isBot: false },
      text: 'hello',
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
    },
  };
  await store.inbox.command(message, (command) => command.stop());
}

const loaded = readSettings(locateDataFolder('/nowhere', {}), {});
const settings = {
  ...loaded.settings,
  // A sweep runs every 30 ms; the simulated clocks determine which rows are old.
  retention: { ...loaded.settings.retention, messageDays: 20, everyMinutes: 0.005 },
};

/**
 * Runs this many sweeps, each `minutes` after the previous one, and returns the number of remaining
 * messages.
 */
async function rounds(count: number, minutes: number, log = silentLogger): Promise<number> {
  const shared = { store, clock: () => now, monotonic: () => ticks, log };
  const stop = startRetention({ shared, processId: 'p', loaded: { ...loaded, settings } });
  for (let round = 0; round < count; round += 1) {
    now += minutes * MINUTE;
    ticks += minutes * MINUTE;
    const at = now;
    await expect
      .poll(async () => (await store.retention.last())?.endedAt, { timeout: 20_000 })
      .toBe(at);
  }
  await stop();
  return (await store.inbox.recent({ channel: 'web', account: 'default', chatId: 'c1' }, 99))
    .length;
}

it('[D15] removes nothing while the clock is temporarily a year ahead, and logs the reason', async () => {
  await say();
  await rounds(2, 10);
  now += YEAR;
  await say();
  const { log, lines } = createRecordingLogger();
  expect(await rounds(4, 10, log)).toBe(2);
  expect(lines.filter((line) => line.startsWith('old rows are kept:'))).toHaveLength(1);
  now -= YEAR;
  expect(await rounds(2, 10)).toBe(2);
});

it('[D15] removes messages that reach their age limit even while people keep writing', async () => {
  await say();
  for (let day = 1; day <= 21; day += 1) {
    await rounds(1, 24 * 60);
    await say();
  }
  expect(await rounds(1, 24 * 60)).toBe(20);
});

it('[D15] removes rows that exceed a shortened retention period as soon as the settings change', async () => {
  for (let day = 1; day <= 10; day += 1) {
    await say();
    await rounds(1, 24 * 60);
  }
  settings.retention = { ...settings.retention, messageDays: 4 };
  expect(await rounds(1, 10)).toBe(4);
});
