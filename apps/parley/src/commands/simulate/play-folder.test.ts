// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the settings
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { createPlayFolder, createSimulatedSettings } from './play-folder.ts';

const SIMULATOR = {
  platform: 'telegram',
  owner: 'telegram:1001',
  firstGroup: '-1001',
  settings: { token: '1:double', apiRoot: 'http://127.0.0.1:1' },
} as const;

const simulated = (written: Readonly<Record<string, unknown>>) =>
  createSimulatedSettings(written, {
    base: '/home/ann',
    workspace: '/tmp/copy',
    simulator: SIMULATOR,
  });

describe('the settings of a simulation', () => {
  it.each<[what: string, written: object, expected: object]>([
    [
      'none',
      {},
      {
        ...{ owners: ['telegram:1001'], http: { port: 0 }, agent: { workspace: '/tmp/copy' } },
        channels: { telegram: { ...SIMULATOR.settings, access: { allowGroups: ['-1001'] } } },
      },
    ],
    [
      'keep the model, tools and approvals, with the paths they refer to',
      { model: { apiKey: '${file:key.txt}', baseUrl: '${URL}' }, approvals: { ask: ['write'] } },
      {
        model: { apiKey: '${file:/home/ann/key.txt}', baseUrl: '${URL}' },
        approvals: { ask: ['write'] },
      },
    ],
    [
      'refer to plugins and skills where they are',
      {
        plugins: ['./dice', { use: '../other', options: { use: './x' } }],
        skills: { extra: ['./s'] },
      },
      {
        plugins: ['/home/ann/dice', { use: '/home/other', options: { use: './x' } }],
        skills: { extra: ['/home/ann/s'] },
      },
    ],
    [
      'keep an account’s rules for access and answers, but nothing about its connection',
      {
        channels: {
          telegram: {
            accounts: {
              home: {
                ...{ token: 'real', webhook: { url: 'https://x' }, activation: 'always' },
                access: { direct: 'open', allowGroups: ['-7'] },
              },
            },
          },
          discord: { token: 'real' },
        },
      },
      {
        channels: {
          telegram: {
            ...{ ...SIMULATOR.settings, activation: 'always' },
            access: { direct: 'open', allowGroups: ['-7', '-1001'] },
          },
        },
      },
    ],
  ])('[U04] %s', (_what, written, expected) => {
    expect(simulated({ ...written })).toMatchObject(expected);
  });

  it('[U04] omit the database, the queue, traces and all other connections to the real installation', () => {
    const store = { url: 'postgres://real' };
    const all = {
      store,
      queue: { url: 'redis://real' },
      telemetry: { otlp: {} },
      owners: ['telegram:5'],
    };
    expect(JSON.stringify(simulated(all))).not.toMatch(/real|otlp|telegram:5"/);
  });
});

describe('the settings of an offline simulation', () => {
  it("[U04] select the built-in model, even if the user's own settings select another model", () => {
    const where = { base: '/home/ann', workspace: '/tmp/copy', simulator: SIMULATOR };
    const written = { model: { provider: 'anthropic' }, approvals: { ask: ['write'] } };
    expect(createSimulatedSettings(written, { ...where, isOffline: true })).toMatchObject({
      ...{ model: 'offline', approvals: { ask: ['write'] } },
    });
    expect(createSimulatedSettings(written, where)).toMatchObject(written);
  });
});

describe('the data folder of a simulation', () => {
  let data = '';
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'parley-player-'));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  it('[U04] has valid settings and either a copy of the workspace or the workspace itself, and can be removed', () => {
    const folder = locateDataFolder(data, {});
    mkdirSync(folder.workspace);
    writeFileSync(join(folder.workspace, 'AGENTS.md'), 'mine');
    writeFileSync(folder.settingsFile, 'agent: { name: Wren }\nplugins: [./dice]\n');
    for (const ownWorkspace of [false, true]) {
      const play = createPlayFolder({ folder, env: {} }, SIMULATOR, { ownWorkspace });
      const { settings, channels } = readSettings(play.folder, {});
      expect(settings.agent.name).toBe('Wren');
      expect(settings.plugins[0]?.use).toBe(join(data, 'dice'));
      expect(channels['telegram/default']?.kind).toBe('ok');
      const { workspace } = settings.agent;
      expect(workspace).toBe(ownWorkspace ? folder.workspace : play.folder.workspace);
      expect(readFileSync(join(workspace, 'AGENTS.md'), 'utf8')).toBe('mine');
      play.remove();
      expect(existsSync(play.folder.path)).toBe(false);
    }
    expect(existsSync(folder.workspace)).toBe(true);
  });
});
