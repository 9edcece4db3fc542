import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toReachableUrl } from './banner.ts';
import {
  announceGateway,
  createDataFolder,
  createTokenGetter,
  type DataFolder,
  findInstance,
  formatCommandLine,
  getDefaultDataFolder,
  locateDataFolder,
  lockDataFolder,
  readOrCreateToken,
  readToken,
  replaceToken,
} from './data-folder.ts';

let parent: string;
let folder: DataFolder;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'parley-data-'));
  folder = locateDataFolder(join(parent, 'data'), {});
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** Writes another gateway's instance file into the data folder. */
const leaveInstance = ({ instanceFile }: DataFolder, instance: object) =>
  writeFileSync(instanceFile, `${JSON.stringify(instance)}\n`);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the location of the data folder', () => {
  it.each([
    ['with --data', '/a', { PARLEY_HOME: '/b' }, '/a'],
    ['without --data, in PARLEY_HOME', undefined, { PARLEY_HOME: '/b' }, '/b'],
    ['without either, in ~/.parley', undefined, {}, join(homedir(), '.parley')],
    ['even when PARLEY_HOME is empty', undefined, { PARLEY_HOME: '' }, join(homedir(), '.parley')],
    ['with a relative path made absolute', 'here', {}, join(process.cwd(), 'here')],
  ])('%s', (_case, flag, env, path) => {
    expect(locateDataFolder(flag, env).path).toBe(path);
  });
});

describe('creating the data folder', () => {
  it('makes it accessible only to its owner', () => {
    createDataFolder(folder);
    expect(modeOf(folder.path)).toBe('700');
  });

  it('keeps the mode of an existing folder', () => {
    mkdirSync(folder.path);
    // The umask narrows the mode given to mkdir, so the mode is set explicitly.
    chmodSync(folder.path, 0o750);
    createDataFolder(folder);
    expect(modeOf(folder.path)).toBe('750');
  });

  it('creates missing parent folders', () => {
    const deep = locateDataFolder(join(parent, 'a', 'b', 'c'), {});
    createDataFolder(deep);
    expect(modeOf(join(parent, 'a'))).toBe('700');
  });

  it.each([
    ['a file is in its place', () => folder.path],
    ['a file is one of its parents', () => join(folder.path, 'inside')],
    ['the system allows no folders there', () => '/proc/parley'],
  ])('advises the user when %s', (_case, path) => {
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
  it('is exclusive, and can be acquired again after its release', () => {
    createDataFolder(folder);
    const lock = lockDataFolder(folder);
    expect(() => lockDataFolder(folder)).toThrow(expect.objectContaining({ code: 'data-locked' }));
    lock.release();
    lockDataFolder(folder).release();
  });

  it('names the process that holds the lock, if it is known', () => {
    createDataFolder(folder);
    const lock = lockDataFolder(folder);
    leaveInstance(folder, { pid: process.pid, address: 'http://127.0.0.1:7411' });
    expect(() => lockDataFolder(folder)).toThrow(
      `(process ${process.pid} at http://127.0.0.1:7411)`,
    );
    lock.release();
  });

  it('excludes other processes, and is released when its holder is killed', async () => {
    createDataFolder(folder);
    // A global variable keeps the lock from being garbage collected and thereby released.
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

  it('does not report another Parley process if the folder is not writable', () => {
    expect(() => lockDataFolder(folder)).toThrow(
      expect.objectContaining({ code: 'data-unwritable' }),
    );
  });
});

describe('the file of the running gateway', () => {
  const ADDRESS = 'http://127.0.0.1:7411';
  let folder: DataFolder;
  beforeEach(() => {
    folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-instance-')), {});
  });
  afterEach(() => rmSync(folder.path, { recursive: true, force: true }));

  describe('finding the gateway of a data folder', () => {
    it('finds a running gateway until it has exited', () => {
      const end = announceGateway(folder, ADDRESS);
      expect(findInstance(folder)).toMatchObject({ pid: process.pid, address: ADDRESS });
      expect(statSync(folder.instanceFile).mode & 0o777).toBe(0o600);
      end();
      expect(findInstance(folder)).toBeNull();
      end();
    });

    it('ignores the file that a killed process left behind', () => {
      const { pid } = spawnSync(process.execPath, ['--version']);
      leaveInstance(folder, { pid, address: ADDRESS });
      expect(findInstance(folder)).toBeNull();
    });

    it.each(['', '{"pid":', '{"pid":"x","address":"y"}', 'null'])(
      'finds no gateway if the file contains %j',
      (content) => {
        writeFileSync(folder.instanceFile, content);
        expect(findInstance(folder)).toBeNull();
      },
    );

    it('[D09] ignores a gateway on another machine that shares the folder', () => {
      leaveInstance(folder, { pid: process.pid, address: ADDRESS, host: 'another-machine' });
      expect(findInstance(folder)).toBeNull();
    });

    it('[D09] finds the newest gateway, even after an earlier gateway on the same folder has exited', () => {
      const end = announceGateway(folder, ADDRESS);
      const later = { pid: process.pid, address: 'http://127.0.0.1:7412' };
      leaveInstance(folder, later);
      end();
      expect(findInstance(folder)).toEqual(later);
    });
  });
});

describe('the token file', () => {
  let path: string;
  let folder: { readonly tokenFile: string };
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'parley-token-'));
    folder = { tokenFile: join(path, 'token') };
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));

  const mode = () => (statSync(folder.tokenFile).mode & 0o777).toString(8);

  describe('the token', () => {
    it('[U03] is created once, with a long token that only its owner can read', () => {
      expect(readToken(folder)).toBeNull();
      const token = readOrCreateToken(folder);
      expect(token).toMatch(/^[\w-]{32}$/);
      expect(mode()).toBe('600');
      chmodSync(folder.tokenFile, 0o644);
      expect(readOrCreateToken(folder)).toBe(token);
      expect(mode()).toBe('600');
    });

    it('is replaced if it contains only part of a token', () => {
      writeFileSync(folder.tokenFile, 'half');
      const token = readOrCreateToken(folder);
      expect(token).toHaveLength(32);
      expect(readToken(folder)).toBe(token);
      expect(mode()).toBe('600');
    });

    it('[U03] is updated in a running process as soon as the token file changes', () => {
      const token = createTokenGetter(folder);
      const before = token();
      const after = replaceToken(folder);
      expect(after).not.toBe(before);
      expect(token()).toBe(after);
      expect(mode()).toBe('600');
      expect(readdirSync(path)).toEqual(['token']);
      rmSync(folder.tokenFile);
      expect(token()).toBe(after);
    });
  });
});

describe('a command as the user types it', () => {
  it('omits the default data folder', () => {
    expect(formatCommandLine('chat', { path: getDefaultDataFolder() })).toBe(
      'npm run parley -- chat',
    );
  });

  it.each([
    ['/srv/parley', '/srv/parley'],
    ['/my data', "'/my data'"],
    ["/it's mine", "'/it'\\''s mine'"],
    ['/a;rm -rf b', "'/a;rm -rf b'"],
  ])('quotes any other folder for the shell: %s', (path, written) => {
    expect(formatCommandLine('start', { path })).toBe(`npm run parley -- start --data ${written}`);
  });
});

describe('the displayed address', () => {
  it.each([
    ['http://0.0.0.0:7411', 'http://127.0.0.1:7411'],
    ['http://[::]:7411', 'http://[::1]:7411'],
    ['http://127.0.0.1:7411', 'http://127.0.0.1:7411'],
    ['http://10.0.0.0:80', 'http://10.0.0.0:80'],
  ])('of %s is %s', (address, shown) => {
    expect(toReachableUrl(address)).toBe(shown);
  });
});
