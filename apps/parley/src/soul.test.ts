import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '@parley/agent/soul';
import { newId, silentLogger, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { readSettings } from './settings.ts';
import { openSoul } from './soul.ts';

const FIRST = 'You are calm and kind, and you say what you think without hurting anyone.';
const NAMED = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9', model: 'm' };

let data: string;
let store: Store;
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'parley-soul-'));
  mkdirSync(join(data, 'workspace'));
  writeFileSync(join(data, 'workspace', 'SOUL.md'), `${FIRST}\n`);
  store = await openMemoryStore({ clock: Date.now });
});
afterEach(async () => {
  await store.close();
  rmSync(data, { recursive: true, force: true });
});

async function openProposing(settings: object) {
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(settings));
  const folder = locateDataFolder(data, {});
  const loaded = readSettings(folder, {}).settings;
  const deps = {
    folder,
    store,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    log: silentLogger,
  };
  const { service } = openSoul(loaded, deps);
  await service.sync('at-once');
  const localTime = () => ({ date: 'today', time: 'now' });
  const caller = { name: 'web:owner', role: 'owner' } as const;
  const soul = async () => ({ service, localTime });
  const { propose } = operations;
  return (proposal: { text: string; reason: string }) =>
    propose.run({ soul, newId }, proposal, { caller });
}

describe('SOUL.md under different settings', () => {
  it.each([
    ['a configured model judges', { model: NAMED }, 'proposed'],
    ['a model that judges by name', { model: NAMED, soul: { judge: 'other' } }, 'proposed'],
    [
      'rules alone decide, where the settings say so',
      { model: NAMED, soul: { judge: false } },
      'passed',
    ],
    ['rules alone decide without a model', { model: 'offline' }, 'passed'],
    [
      'rules alone decide, as the offline model cannot',
      { model: 'offline', soul: { judge: true } },
      'passed',
    ],
    ['rules alone decide where none is named', { model: 'auto' }, 'passed'],
  ])('[W06] %s', async (_, settings, state) => {
    const propose = await openProposing(settings);
    const proposal = { text: `${FIRST}\nLove the sea.`, reason: 'the sea' };
    expect(await propose(proposal)).toMatchObject({ state });
  });

  it('[W06] if only people edit the file, the page shows the proposed text for reference without any actions', async () => {
    const propose = await openProposing({ model: NAMED, soul: { humanEdits: 'seed-only' } });
    const proposal = { text: `${FIRST}\nLove the sea.`, reason: 'the sea' };
    expect(await propose(proposal)).toMatchObject({
      state: 'refused',
      status: 'kept for reference, not used',
      text: proposal.text,
      can: [],
      findings: [{ text: expect.stringContaining('ask the agent') }],
    });
  });
});
