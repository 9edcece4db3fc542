import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { locateDataFolder } from './data-folder.ts';
import { openLog } from './process-options.ts';
import {
  changedSettings,
  checkRole,
  type LoadedSettings,
  readSettings,
  watchSettings,
} from './settings.ts';

const Line = z.looseObject({ level: z.string(), msg: z.string() });
const BEFORE = 'log: { level: warn, format: json }\nowners: [telegram:1]\n';

let path: string;
let lines: z.infer<typeof Line>[];
let end: () => void;
let log: ReturnType<typeof openLog>['log'];
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-watch-'));
  const folder = locateDataFolder(path, {});
  writeFileSync(folder.settingsFile, BEFORE);
  const loaded = readSettings(folder, {});
  lines = [];
  const logTo = { write: (line: string) => void lines.push(Line.parse(JSON.parse(line))) };
  const open = openLog({ folder, logTo }, loaded);
  log = open.log;
  end = watchSettings({ folder, env: {}, channels: CHANNEL_DEFINITIONS, loaded, ...open });
});
afterEach(() => {
  end();
  rmSync(path, { recursive: true });
});

/** As editors do: another file takes the place of the old one. */
function save(text: string): void {
  writeFileSync(join(path, 'new.yaml'), text);
  renameSync(join(path, 'new.yaml'), join(path, 'parley.yaml'));
}
const untilLine = () => vi.waitFor(() => expect(lines).toHaveLength(1), 30_000);

describe('settings that change while Parley runs', () => {
  it('[D12] are in use at once where that is possible', async () => {
    const child = log.child({ part: 'x' });
    child.info({}, 'not said');
    save(BEFORE.replace('warn', 'info'));
    await untilLine();
    expect(lines).toMatchObject([
      { level: 'info', msg: expect.stringContaining('all of them are in use') },
    ]);
    child.info({}, 'said');
    expect(lines.at(-1)).toMatchObject({ part: 'x', msg: 'said' });
  });

  it('[D12] are named, without their values, where they wait for a restart', async () => {
    save(`${BEFORE.replace('telegram:1', 'telegram:2')}limits: { turnSteps: 3 }
channels: { telegram: { token: "123456:abcdefghijklmnopqrstuvwxyzabcdefghi" } }\n`);
    await untilLine();
    expect(lines).toMatchObject([
      { level: 'warn', afterRestart: ['owners', 'limits.turnSteps', 'channels.telegram/default'] },
    ]);
    expect(JSON.stringify(lines)).not.toContain('abcdefghi');
  });

  it('[D12] are told as at a start where they are wrong, and those from before stay', async () => {
    save('log: { level: loud }\n');
    await untilLine();
    expect(lines).toMatchObject([
      {
        level: 'error',
        problems: [expect.stringContaining('log.level has a value that does not fit')],
      },
    ]);
    log.info({}, 'not said');
    expect(lines).toHaveLength(1);
  });
});

describe('what has changed', () => {
  it('[D12] is nothing where only words in comments did', () => {
    const folder = locateDataFolder(path, {});
    const before = readSettings(folder, {});
    save(`# mine\n\n${BEFORE}`);
    expect(changedSettings(before, readSettings(folder, {}))).toEqual([]);
  });
});

type Places = Parameters<typeof checkRole>[1];
const queue: LoadedSettings['settings']['queue'] = { prefix: 'parley' };
const postgres = { url: 'postgres://db/parley' };
const redis = { ...queue, url: 'redis://redis:6379' };

describe('the role of a process', () => {
  it.each<readonly ['gateway' | 'worker', Places, string]>([
    ['gateway', { store: {}, queue }, 'store.url (PostgreSQL) and queue.url (Redis)'],
    ['worker', { store: postgres, queue }, 'Set queue.url (Redis) in the settings'],
    ['gateway', { store: {}, queue: redis }, 'Set store.url (PostgreSQL) in the settings'],
  ])('[D09] of a %s alone needs servers, and says which are missing', (role, places, words) => {
    expect(() => checkRole(role, places)).toThrow(
      expect.objectContaining({
        code: 'role-needs-servers',
        message: expect.stringContaining(words),
      }),
    );
  });

  it('[D09] needs nothing where one process does everything', () => {
    checkRole('all', { store: {}, queue });
    checkRole('worker', { store: postgres, queue: redis });
  });
});
