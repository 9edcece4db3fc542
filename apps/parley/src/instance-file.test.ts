import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, locateDataFolder } from './data-folder.ts';
import { announceHere, findInstance, removeInstance, writeInstance } from './instance-file.ts';

const ADDRESS = 'http://127.0.0.1:7411';
let folder: DataFolder;
beforeEach(() => {
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-instance-')), {});
});
afterEach(() => rmSync(folder.path, { recursive: true, force: true }));

describe('finding the gateway of a data folder', () => {
  it('finds one that runs, until it has ended', () => {
    const instance = { pid: process.pid, address: ADDRESS };
    writeInstance(folder, instance);
    expect(findInstance(folder)).toEqual(instance);
    expect(statSync(folder.instanceFile).mode & 0o777).toBe(0o600);
    removeInstance(folder, instance);
    expect(findInstance(folder)).toBeNull();
    removeInstance(folder, instance);
  });

  it('finds nobody where a killed process has left its file', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeInstance(folder, { pid, address: ADDRESS });
    expect(findInstance(folder)).toBeNull();
  });

  it.each(['', '{"pid":', '{"pid":"x","address":"y"}', 'null'])(
    'finds nobody in a file that holds %j',
    (content) => {
      writeFileSync(folder.instanceFile, content);
      expect(findInstance(folder)).toBeNull();
    },
  );

  it('[D09] is not looked for here when it runs on another machine that shares the folder', () => {
    writeInstance(folder, { pid: process.pid, address: ADDRESS, host: 'another-machine' });
    expect(findInstance(folder)).toBeNull();
  });

  it('[D09] finds the one that came last, also when an earlier one on the same folder ends', () => {
    const end = announceHere(folder, ADDRESS);
    const later = { pid: process.pid, address: 'http://127.0.0.1:7412' };
    writeInstance(folder, later);
    end();
    expect(findInstance(folder)).toEqual(later);
  });
});
