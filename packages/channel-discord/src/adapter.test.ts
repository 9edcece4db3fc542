import { silentLogger, systemTime } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { expect, it } from 'vitest';
import { createDiscordAdapter } from './adapter.ts';
import { DiscordSettings } from './settings.ts';

it("[F12] edits an unfinished answer at most every 1.2 s, which leaves room for other messages within Discord's limit of five edits in five seconds", () => {
  const { streaming } = createDiscordAdapter({
    account: 'default',
    settings: DiscordSettings.parse({ token: 'MTkw.abc_1.x-y' }),
    log: silentLogger,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    values: createInMemoryAdapterValues(),
    holdsAccount: () => true,
    receive: () => Promise.reject(new Error('not connected')),
    revise: async () => {},
    reacted: async () => {},
    message: async () => null,
    commands: [],
    skipped: async () => {},
    ignored: async () => {},
    notifyOwner: async () => {},
    report: () => {},
    history: async () => [],
  });
  expect(streaming?.minIntervalMs).toBe(1_200);
});
