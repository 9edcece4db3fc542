import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { measureTables } from '@parley/store/backup';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideUpgrade } from '../../apps/parley/src/commands/upgrade/decide.ts';
import { listPlayedMessages } from '../../apps/parley/src/commands/upgrade/played-messages.ts';
import { startRehearsalModel } from '../../apps/parley/src/commands/upgrade/rehearsal-model.ts';
import { LIMITS } from '../../apps/parley/src/commands/upgrade/rehearse.ts';
import { runRelease } from '../../apps/parley/src/commands/upgrade/run-release.ts';
import { readRelease } from '../../apps/parley/src/commands/upgrade/unpack-release.ts';
import { type PackedBuilds, packBuilds } from './installed.ts';

const FIXTURES = join(import.meta.dirname, '../upgrade/fixtures');
const SCHEMA_31 = join(import.meta.dirname, '../e2e/fixtures/data-of-schema-31.tar.gz');

let builds: PackedBuilds;
let folder: string;
beforeAll(async () => {
  builds = await packBuilds();
  folder = mkdtempSync(join(tmpdir(), 'parley-earlier-'));
});
afterAll(() => {
  builds?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The databases that earlier versions have left behind, as they wrote them. */
const EARLIER: readonly (readonly [name: string, put: (data: string) => Promise<void>])[] = [
  ['schema-31', (data) => extract({ file: SCHEMA_31, cwd: data })],
  ...readdirSync(FIXTURES).map((name) => {
    const put = async (data: string) => {
      const dump = readFileSync(join(FIXTURES, name, 'sqlite/database.sql.gz'));
      // SQLite's internal tables of the search index are otherwise write-protected.
      const database = new DatabaseSync(join(data, 'parley.db'), { defensive: false });
      database.exec(gunzipSync(dump).toString('utf8'));
      database.close();
    };
    return [name, put] as const;
  }),
];

describe('a rehearsal with the data of an earlier version', () => {
  it.each(EARLIER)(
    '[D18] upgrades %s, keeps all rows, and answers every message once',
    async (name, put) => {
      const base = join(folder, name, 'base');
      mkdirSync(base, { recursive: true });
      await put(base);
      const settingsFile = join(base, 'parley.yaml');
      writeFileSync(settingsFile, '{}');
      const before = measureTables(join(base, 'parley.db'));
      const model = await startRehearsalModel(new Set([0]));
      try {
        const root = builds.change(name, {});
        const record = await runRelease(readRelease(root), join(folder, name, 'copy'), {
          ...{ base, settingsFile, model, written: {}, secrets: [], env: {}, owners: [] },
          ...{ messages: listPlayedMessages([], []), canary: 'a canary', currentRoot: root },
          limits: { ...LIMITS, runMs: 0, settleMs: 300 },
        });
        expect(record.tablesBefore).toEqual(before);
        const { findings } = decideUpgrade(record, record);
        expect(findings.filter(({ level }) => level !== 'note')).toEqual([]);
        expect(record.answers.every(({ seen }) => seen.every((count) => count === 1))).toBe(true);
        expect(Object.values(before).some(({ rows }) => rows > 3)).toBe(true);
      } finally {
        await model.close();
      }
    },
  );
});
