import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type DataFolder, locateDataFolder } from '@parley/cli';
import { isWholeRun } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, runParley } from './parley-process.ts';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
const DIE_AT = resolve(import.meta.dirname, 'die-at.ts');
const clock = () => Date.UTC(2026, 10, 22);

/**
 * The moments around each name that a file or folder gets: the database takes its place first, then its files, then
 * the workspace. The old database has been kept before, under a second name.
 */
const MOMENTS = [
  { at: 'before 1', database: 'old', workspace: 'old' },
  { at: 'after 1', database: 'restored', workspace: 'old' },
  { at: 'after 2', database: 'restored', workspace: null },
  { at: 'after 3', database: 'restored', workspace: 'restored' },
] as const;
/** On a change; a whole run kills at all of them. */
const ON_A_CHANGE: readonly string[] = ['before 1', 'after 2'];

describe('a restore that is killed', () => {
  let root: string;
  let folder: DataFolder;
  let file: string;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'parley-killed-'));
    folder = locateDataFolder(join(root, 'data'), {});
    file = join(root, 'b.tar.gz');
    mkdirSync(folder.workspace, { recursive: true });
    writeFileSync(folder.settingsFile, 'model: offline\n');
    await write('restored');
    const made = await runCommand(['--data', folder.path, 'backup', file]);
    expect([made.code, made.err]).toEqual([0, '']);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  async function write(value: string): Promise<void> {
    const store = await openStore({ url: folder.storeUrl, clock });
    await store.adapterValues('web', 'default').set([{ kind: 'k', id: 'i', value }]);
    await store.close();
    writeFileSync(join(folder.workspace, 'SOUL.md'), value);
  }

  it.each(MOMENTS.filter(({ at }) => isWholeRun() || ON_A_CHANGE.includes(at)))(
    '[D04] $at: has the old database or the restored one, whole; no Parley starts on a mixture, and the next restore completes it',
    async ({ at, database, workspace }) => {
      await write('old');
      const args = ['--import', DIE_AT, PROGRAM, '--data', folder.path, 'restore', file];
      const killed = spawnSync(process.execPath, args, { env: { ...process.env, DIE_AT: at } });
      expect([killed.signal, String(killed.stderr)]).toEqual(['SIGKILL', '']);
      expect([valueIn(folder.path), soul()]).toEqual([database, workspace]);

      const start = await runParley(['--data', folder.path, 'start']);
      expect(start.code).toBe(1);
      expect(start.err).toMatch(/was interrupted.*restore FILE.*again.*go back.*before-restore-/s);

      const again = await runCommand(['--data', folder.path, 'restore', file]);
      expect([again.code, again.err]).toEqual([0, '']);
      expect([valueIn(folder.path), soul()]).toEqual(['restored', 'restored']);
      const [aside = '', ...others] = readdirSync(folder.path).filter((name) =>
        name.startsWith('before-'),
      );
      expect(others).toEqual([]);
      expect(valueIn(join(folder.path, aside))).toBe('old');
      expect(readFileSync(join(folder.path, aside, 'workspace', 'SOUL.md'), 'utf8')).toBe('old');
      rmSync(join(folder.path, aside), { recursive: true });
      const left = readdirSync(folder.path).filter(
        (name) => !/^(lock|parley\.db-files)/.test(name),
      );
      expect(left.toSorted()).toEqual(['parley.db', 'parley.yaml', 'workspace']);
    },
  );

  function soul(): string | null {
    try {
      return readFileSync(join(folder.workspace, 'SOUL.md'), 'utf8');
    } catch {
      return null;
    }
  }

  function valueIn(path: string): unknown {
    const sqlite = new DatabaseSync(join(path, 'parley.db'));
    expect(sqlite.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const row = sqlite.prepare("select value from adapter_value where id = 'i'").get();
    sqlite.close();
    return row?.value;
  }
});
