import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SpendScope } from '@parley/agent';
import { silentLogger } from '@parley/core';
import { openStore, type Store } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSpendGuard } from './access.ts';
import { locateDataFolder } from './data-folder.ts';
import { readSettings } from './settings.ts';

const EVE = { channel: 'telegram', account: 'default', channelUserId: '9' };
const ACCOUNT = { day: '2026-11-21', personId: 'telegram:9', groupId: null };
const OPEN = { direct: 'open', groups: 'open' };

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-open-'));
  store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}`, clock: Date.now });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/**
 * Sends a message from a person who has already used this many tokens today. Returns whether it was
 * allowed, along with the startup log.
 */
async function after(
  used: number,
  { access = {}, spend = {} }: { readonly access?: object; readonly spend?: object },
  at: Partial<SpendScope> = {},
) {
  const telegram = { token: `123456:${'A'.repeat(35)}`, access };
  writeFileSync(
    join(folder, 'parley.yaml'),
    JSON.stringify({ channels: { telegram }, spend, agent: { timeZone: 'UTC' } }),
  );
  const logged: string[] = [];
  const note = (facts: object, words: string) =>
    void logged.push(`${words} ${JSON.stringify(facts)}`);
  const log = { ...silentLogger, info: note, warn: note };
  const loaded = readSettings(locateDataFolder(folder, {}), {});
  const guard = openSpendGuard(loaded, { store, log });
  await store.spend.add(ACCOUNT, { inputTokens: used, outputTokens: 0, costUsd: null });
  const reader = { kind: 'guest', conversationId: 'c' } as const;
  const asked = { account: ACCOUNT, used: null, byOwner: false, reader, at: { ...EVE, ...at } };
  const mayAsk = await guard(asked).then(
    () => true,
    () => false,
  );
  return { mayAsk, logged: logged.join('\n') };
}

describe('a stranger who has access only because access is open', () => {
  it('[G17] caps strangers at 1,500,000 tokens a day when the settings set no cap, and logs the cap', async () => {
    expect(await after(1_499_999, { access: OPEN })).toMatchObject({ mayAsk: true });
    const { mayAsk, logged } = await after(1, { access: OPEN });
    expect(mayAsk).toBe(false);
    expect(logged).toContain('each stranger has the default cap');
    expect(logged).toContain('"perStrangerDaily":{"tokens":1500000,"usd":1}');
    expect(logged).toContain('"telegram/default direct","telegram/default groups"');
  });

  it.each<[string, Parameters<typeof after>[1], Partial<SpendScope>, boolean]>([
    ['in an open group', { access: { groups: 'open' } }, { groupId: '-7' }, false],
    [
      'in a group that is named',
      { access: { ...OPEN, allowGroups: [-7] } },
      { groupId: '-7' },
      true,
    ],
    ['who is named', { access: { ...OPEN, allow: [9] } }, {}, true],
    ['where nothing is open', { access: {} }, {}, true],
    ['in a direct chat, where groups alone are open', { access: { groups: 'open' } }, {}, true],
    [
      'with a cap of the settings',
      { access: OPEN, spend: { perStrangerDaily: { tokens: 5_000_000 } } },
      {},
      true,
    ],
    [
      'where everyone has a cap',
      { access: OPEN, spend: { perPersonDaily: { tokens: 5_000_000 } } },
      {},
      true,
    ],
    ['where the cap is off', { access: OPEN, spend: { perStrangerDaily: 'off' } }, {}, true],
  ])('[G17] %s', async (_title, settings, at, mayAsk) => {
    expect(await after(1_500_000, settings, at)).toMatchObject({ mayAsk });
  });

  it('[G17] logs a warning at startup when strangers have no cap', async () => {
    const { logged } = await after(1, { access: OPEN, spend: { perStrangerDaily: 'off' } });
    expect(logged).toContain('without a cap on strangers');
  });
});
