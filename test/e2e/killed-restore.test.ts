import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type DataFolder, locateDataFolder } from '@parley/cli';
import { tidyUp } from '@parley/cli/exchange';
import { isWholeRun } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../services/fresh-database.ts';
import { runCommand } from './parley-process.ts';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
const DIE_AT = resolve(import.meta.dirname, 'die-at.ts');
const clock = () => Date.UTC(2026, 10, 22);

const postgresUrl = inject('postgresUrl');
const databases = [
  { name: 'SQLite', isThere: true },
  { name: 'PostgreSQL', isThere: postgresUrl !== null },
] as const;
/** Where a restore is killed on a change: one moment of each outcome; a whole run kills at all of them. */
const ON_A_CHANGE = {
  SQLite: ['before 1', 'after 1', 'after 4'],
  PostgreSQL: ['after 1', 'after 4'],
};

for (const { name, isThere } of databases) {
  describe.runIf(isThere)(`a restore on ${name} that is killed`, () => {
    let root: string;
    let folder: DataFolder;
    let url: string;
    let drop = async (): Promise<void> => undefined;
    let file: string;
    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), 'parley-killed-'));
      folder = locateDataFolder(join(root, 'data'), {});
      file = join(root, 'b.tar.gz');
      const fresh = name === 'SQLite' ? null : await freshDatabase(postgresUrl ?? '');
      if (fresh !== null) drop = () => fresh.drop();
      url = fresh?.url ?? folder.storeUrl;
      mkdirSync(folder.workspace, { recursive: true });
      writeFileSync(
        folder.settingsFile,
        fresh === null ? 'model: offline\n' : `store: { url: '${url}' }\n`,
      );
      await write('restored');
      const made = await runCommand(['--data', folder.path, 'backup', file]);
      expect([made.code, made.err]).toEqual([0, '']);
    });
    afterAll(async () => {
      await drop();
      rmSync(root, { recursive: true });
    });

    async function write(value: string): Promise<void> {
      const store = await openStore({ url, clock });
      await store.adapterValues('web', 'default').set([{ kind: 'k', id: 'i', value }]);
      await store.close();
      writeFileSync(join(folder.workspace, 'SOUL.md'), value);
    }

    async function state(): Promise<readonly (string | undefined)[]> {
      const store = await openStore({ url, clock });
      const values = await store.adapterValues('web', 'default').get('k', ['i']);
      await store.close();
      return [values.get('i'), readFileSync(join(folder.workspace, 'SOUL.md'), 'utf8')];
    }

    // The first name given is that of the plan of the exchange; then files move.
    it.each(
      [
        ['before its plan is written', 'before 1', 'old'],
        ['when its plan is written', 'after 1', name === 'SQLite' ? 'restored' : 'old'],
        ['between old and new', 'before 4', 'restored'],
        ['between two files', 'after 4', 'restored'],
      ].filter(([, at = '']) => isWholeRun() || ON_A_CHANGE[name].includes(at)),
    )(
      '[D04] %s is all or nothing after the next start, and leaves nothing',
      async (_when, at, expected) => {
        await write('old');
        const args = ['--import', DIE_AT, PROGRAM, '--data', folder.path, 'restore', file, '--yes'];
        const killed = spawnSync(process.execPath, args, { env: { ...process.env, DIE_AT: at } });
        expect([killed.signal, String(killed.stderr)]).toEqual(['SIGKILL', '']);
        await tidyUp(folder, {});
        expect(await state()).toEqual([expected, expected]);
        const left = readdirSync(folder.path).filter((one) => !/^(before-restore-|lock)/.test(one));
        // A restored database has its folder of files.
        const files = expected === 'restored' ? ['parley.db-files'] : [];
        const database = name === 'SQLite' ? ['parley.db', ...files] : [];
        expect(left.toSorted()).toEqual([...database, 'parley.yaml', 'workspace']);
      },
    );
  });
}
