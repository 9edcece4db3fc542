import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, locateDataFolder } from './data-folder.ts';
import { findInstance, removeInstance, writeInstance } from './instance-file.ts';

const ADDRESS = 'http://127.0.0.1:7411';
let folder: DataFolder;
beforeEach(() => {
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-instance-')), {});
});
afterEach(() => rmSync(folder.path, { recursive: true, force: true }));

describe('finding the gateway of a data folder', () => {
  it('finds one that runs, until it has ended', () => {
    writeInstance(folder, { pid: process.pid, address: ADDRESS });
    expect(findInstance(folder)).toEqual({ pid: process.pid, address: ADDRESS });
    expect(statSync(folder.instanceFile).mode & 0o777).toBe(0o600);
    removeInstance(folder, process.pid);
    expect(findInstance(folder)).toBeNull();
    removeInstance(folder, process.pid);
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
});
