import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type DataFolder, locateDataFolder } from '@parley/cli';
import { isFullRun } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { runCommand, runParley } from './parley-process.ts';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
const DIE_AT = resolve(import.meta.dirname, 'die-at.ts');
const postgresUrl = inject('postgresUrl');
const clock = () => Date.UTC(2026, 10, 22);

/**
 * The points before and after each rename: the restore replaces the database first, then its files,
 * then the workspace. Before the first rename, the old database is kept under a second name.
 */
const MOMENTS = [
  { at: 'before 1', database: 'old', workspace: 'old' },
  { at: 'after 1', database: 'restored', workspace: 'old' },
  { at: 'after 2', database: 'restored', workspace: null },
  { at: 'after 3', database: 'restored', workspace: 'restored' },
] as const;
/** The points that a normal run tests; a full run tests all of them. */
const ON_A_CHANGE: readonly string[] = ['before 1', 'after 2'];

describe('a killed restore', () => {
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

  it.each(MOMENTS.filter(({ at }) => isFullRun() || ON_A_CHANGE.includes(at)))(
    '[D04] $at: leaves either the old database or the restored one; Parley refuses to start on a mixture, and the next restore completes it',
    async ({ at, database, workspace }) => {
      await write('old');
      kill(folder, at);
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

  it.runIf(postgresUrl)(
    '[D09] [D04] copies nothing into PostgreSQL, and the next restore completes it',
    async () => {
      const database = await createFreshDatabase(postgresUrl ?? '');
      onTestFinished(() => database.drop());
      const large = locateDataFolder(join(root, 'large'), {});
      mkdirSync(large.workspace, { recursive: true });
      writeFileSync(join(large.workspace, 'SOUL.md'), 'old');
      writeFileSync(large.settingsFile, `store: { url: '${database.url}' }\n`);
      writeFileSync(join(large.path, 'parley.db'), 'that of before');
      kill(large, 'after 2');
      expect(soul(large)).toBeNull();
      const again = await runCommand(['--data', large.path, 'restore', file]);
      expect([again.code, again.err]).toEqual([0, '']);
      expect(soul(large)).toBe('restored');
      // The old database would repeat its unfinished work if it were used again.
      const [aside = ''] = readdirSync(large.path).filter((name) => name.startsWith('before-'));
      const kept = readFileSync(join(large.path, aside, 'parley.db'), 'utf8');
      expect([kept, existsSync(join(large.path, 'parley.db'))]).toEqual(['that of before', false]);
      const store = await openStore({ url: database.url, clock });
      const values = await store.adapterValues('web', 'default').get('k', ['i']);
      await store.close();
      expect(values.get('i')).toBe('restored');
    },
  );

  function kill(target: DataFolder, at: string): void {
    const args = ['--import', DIE_AT, PROGRAM, '--data', target.path, 'restore', file];
    const killed = spawnSync(process.execPath, args, { env: { ...process.env, DIE_AT: at } });
    expect([killed.signal, String(killed.stderr)]).toEqual(['SIGKILL', '']);
  }

  function soul(target = folder): string | null {
    try {
      return readFileSync(join(target.workspace, 'SOUL.md'), 'utf8');
    } catch {
      return null;
    }
  }

  function valueIn(path: string): unknown {
    const sqlite = new DatabaseSync(join(path, 'parley.db'));
    expect(sqlite.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const row = sqlite.prepare("select value from adapter_state where id = 'i'").get();
    sqlite.close();
    return row?.value;
  }
});
