import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  findProgram,
  findUpgraded,
  hashOf,
  readManifest,
  stampOf,
  writeManifest,
  writeUpgraded,
} from '@parley/cli/bundle';
import { findLauncherRoot } from '@parley/core/installation';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { buildUntilUnchanged, removeOldBundles } from './build.ts';
import { findCommit } from './bundle-modules.ts';

const FILES = ['apps/parley/src/main.ts', 'package-lock.json'];
let root = '';

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-bundle-'));
  for (const file of FILES) write(file, 'one');
  const hash = hashOf(root, FILES);
  write(`dist/${hash}/main.mjs`, '');
  writeManifest(root, { hash, stamp: stampOf(root, FILES), files: FILES });
});
afterEach(() => rmSync(root, { recursive: true }));

const folder = () => join(root, 'dist', hashOf(root, FILES));

describe('choosing between the bundle and the sources', () => {
  it('[U06] runs the bundle if it was built from the current sources', () => {
    expect(findProgram(root)).toEqual({ folder: folder(), note: '' });
  });

  it('[U06] runs the bundle if the sources are identical copies, and stores their stamp for the next start', () => {
    for (const file of FILES) write(file, 'one');
    const manifest = readManifest(root);
    expect(findProgram(root).folder).toBe(folder());
    expect(readManifest(root)).toEqual({ ...manifest, stamp: stampOf(root, FILES) });
    expect(readManifest(root)?.stamp).not.toBe(manifest?.stamp);
  });

  it.each<[what: string, change: () => void]>([
    ['a source has changed', () => write('apps/parley/src/main.ts', 'two')],
    [
      'a source has changed but kept its modification time',
      () => {
        write('apps/parley/src/main.ts', 'two');
        utimesSync(join(root, 'apps/parley/src/main.ts'), 0, 0);
      },
    ],
    ['a source is missing', () => rmSync(join(root, 'apps/parley/src/main.ts'))],
    ['other library versions are required', () => write('package-lock.json', 'two')],
    ['the bundle is missing', () => rmSync(folder(), { recursive: true })],
    ["the bundle's sources are unknown", () => write('dist/bundle.json', '{')],
    ['there was never a bundle', () => rmSync(join(root, 'dist'), { recursive: true })],
  ])('[U06] runs the sources when %s', (_what, change) => {
    change();
    const { folder: found, note } = findProgram(root);
    expect(found).toBeNull();
    expect(note).not.toBe('');
  });

  it('[U06] runs the bundle in an installed package, which does not contain the sources', () => {
    const manifest = readManifest(root);
    rmSync(join(root, 'apps'), { recursive: true });
    expect(findProgram(root).folder).toBe(join(root, 'dist', manifest?.hash ?? ''));
  });
});

describe('the release that an upgrade has put in place', () => {
  const release = 'releases/0.2.0/parley';
  const unpack = () => {
    write(`${release}/dist/abc/main.mjs`, '');
    write(`${release}/dist/bundle.json`, JSON.stringify({ hash: 'abc', stamp: '', files: [] }));
  };

  it('[D18] is started in place of the installation, until another choice is made', () => {
    expect(findUpgraded(root)).toBeNull();
    unpack();
    expect(findUpgraded(root)).toBeNull();
    writeUpgraded(root, release);
    expect(findUpgraded(root)).toBe(join(root, release));
    writeUpgraded(root, null);
    expect(findUpgraded(root)).toBeNull();
    writeUpgraded(root, null);
  });

  it.each<[what: string, spoil: () => void]>([
    ['it is gone', () => rmSync(join(root, 'releases'), { recursive: true })],
    ['it is not complete', () => rmSync(join(root, release, 'dist/abc'), { recursive: true })],
    ['the choice cannot be read', () => write('dist/upgraded.json', '{')],
    ['the choice names another folder', () => writeUpgraded(root, '../other/parley')],
    [
      'the choice leads out of the installation',
      () => writeUpgraded(root, `releases/../../${root.split('/').at(-1)}/${release}`),
    ],
  ])('[D18] is not started when %s', (_what, spoil) => {
    unpack();
    writeUpgraded(root, release);
    spoil();
    expect(findUpgraded(root)).toBeNull();
  });

  it('[D18] is found from the launcher, whose path services and commands name', () => {
    const url = (path: string) => new URL(`file://${join(root, path)}/`);
    write(`${release}/package.json`, '{}');
    expect(findLauncherRoot(url(release)).href).toBe(url(release).href);
    write('apps/parley/bin/parley.js', '');
    expect(findLauncherRoot(url(release)).href).toBe(url('.').href);
    expect(findLauncherRoot(url('.')).href).toBe(url('.').href);
  });
});

describe('cleaning up older bundles', () => {
  const made = (name: string, at: number, pid?: number) => {
    write(`dist/${name}/main.mjs`, '');
    if (pid !== undefined) write(`dist/${name}/running/${pid}`, '');
    utimesSync(join(root, 'dist', name), at, at);
  };
  const isKept = (name: string) => existsSync(join(root, 'dist', name));

  it('[U06] removes older bundles during a build, except for the previous one and those in use', () => {
    made('before', 4);
    made('ended', 3, 2 ** 30);
    made('running', 2, process.pid);
    made('never-run', 1);
    removeOldBundles(join(root, 'dist'), hashOf(root, FILES));
    const kept = ['before', 'ended', 'running', 'never-run'].filter(isKept);
    expect(kept).toEqual(['before', 'running']);
    expect(existsSync(folder())).toBe(true);
  });
});

describe('a build during which a source changes', () => {
  it('[U06] repeats the build until no source changes while it runs', async () => {
    const changes = ['main.ts', undefined];
    let builds = 0;
    const built = buildUntilUnchanged(
      async () => {
        builds += 1;
        return builds;
      },
      () => changes.shift(),
    );
    expect(await built).toBe(2);
  });

  it("[U06] fails the build if a file's timestamp is in the future, and names the file", async () => {
    const inAnHour = Date.now() + 3_600_000;
    const built = buildUntilUnchanged(
      async () => {},
      (_, startedAt) => (inAnHour >= startedAt ? 'main.ts' : undefined),
    );
    await expect(built).rejects.toThrow('main.ts changed during each of 3 builds');
  });
});

describe('the commit of a bundle', () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: root,
      encoding: 'utf8',
    }).trim();

  it.runIf(inject('gitPath'))(
    "[U02] returns the commit of the sources' repository, with + for local changes",
    () => {
      git('init', '-q');
      git('add', 'apps', 'package-lock.json');
      git('commit', '-qm', 'one');
      const commit = git('rev-parse', '--short=12', 'HEAD');
      expect(findCommit(root, {})).toBe(commit);
      write('apps/parley/src/main.ts', 'two');
      expect(findCommit(root, {})).toBe(`${commit}+`);
      mkdirSync(join(root, 'installed'));
      expect(findCommit(join(root, 'installed'), {})).toBe('');
    },
  );

  it('[U02] reads the commit from the environment if there is no repository', () => {
    expect(findCommit(root, { PARLEY_COMMIT: 'abc' })).toBe('abc');
    expect(findCommit(root, {})).toBe('');
  });
});
