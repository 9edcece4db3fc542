import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createDataFolder,
  type DataFolder,
  locateDataFolder,
  lockDataFolder,
} from './data-folder.ts';
import { writeInstance } from './instance-file.ts';

let parent: string;
let folder: DataFolder;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'parley-data-'));
  folder = locateDataFolder(join(parent, 'data'), {});
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('where the data folder is', () => {
  it.each([
    ['what --data says', '/a', { PARLEY_HOME: '/b' }, '/a'],
    ['else PARLEY_HOME', undefined, { PARLEY_HOME: '/b' }, '/b'],
    ['else ~/.parley', undefined, {}, join(homedir(), '.parley')],
    [
      'also when PARLEY_HOME is set to nothing',
      undefined,
      { PARLEY_HOME: '' },
      join(homedir(), '.parley'),
    ],
    ['with a relative path made absolute', 'here', {}, join(process.cwd(), 'here')],
  ])('%s', (_case, flag, env, path) => {
    expect(locateDataFolder(flag, env).path).toBe(path);
  });
});

describe('making the data folder', () => {
  it('opens it to its owner alone', () => {
    createDataFolder(folder);
    expect(modeOf(folder.path)).toBe('700');
  });

  it('leaves the mode of a folder that was there before', () => {
    mkdirSync(folder.path);
    // Made exact: the mode given to mkdir is narrowed by the umask.
    chmodSync(folder.path, 0o750);
    createDataFolder(folder);
    expect(modeOf(folder.path)).toBe('750');
  });

  it('makes the folders above it', () => {
    const deep = locateDataFolder(join(parent, 'a', 'b', 'c'), {});
    createDataFolder(deep);
    expect(modeOf(join(parent, 'a'))).toBe('700');
  });

  it.each([
    ['a file is in its place', () => folder.path],
    ['a file is above it', () => join(folder.path, 'inside')],
    ['the system takes no folders there', () => '/proc/parley'],
  ])('says what to do when %s', (_case, path) => {
    writeFileSync(folder.path, 'a file');
    expect(() => createDataFolder(locateDataFolder(path(), {}))).toThrow(
      expect.objectContaining({
        code: 'data-unwritable',
        message: expect.stringContaining('--data'),
      }),
    );
  });
});

describe('the lock on the data folder', () => {
  it('is held by one, and free again once it is released', () => {
    createDataFolder(folder);
    const lock = lockDataFolder(folder);
    expect(() => lockDataFolder(folder)).toThrow(expect.objectContaining({ code: 'data-locked' }));
    lock.release();
    lockDataFolder(folder).release();
  });

  it('names who has it, as far as that is known', () => {
    createDataFolder(folder);
    const lock = lockDataFolder(folder);
    writeInstance(folder, { pid: process.pid, address: 'http://127.0.0.1:7411' });
    expect(() => lockDataFolder(folder)).toThrow(
      `(process ${process.pid} at http://127.0.0.1:7411)`,
    );
    lock.release();
  });

  it('of another process holds, and is dropped when that is killed', async () => {
    createDataFolder(folder);
    // Referred to, because a lock that nobody refers to is collected, and so dropped.
    const script = `
      import { locateDataFolder, lockDataFolder } from ${JSON.stringify(join(import.meta.dirname, 'data-folder.ts'))};
      globalThis.held = lockDataFolder(locateDataFolder(${JSON.stringify(folder.path)}, {}));
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(holder.stdout, 'data');
    expect(() => lockDataFolder(folder)).toThrow('Another Parley is running');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    lockDataFolder(folder).release();
  });

  it('does not blame another Parley for a folder that cannot be written', () => {
    expect(() => lockDataFolder(folder)).toThrow(
      expect.objectContaining({ code: 'data-unwritable' }),
    );
  });
});
