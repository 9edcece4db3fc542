import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBackup } from '../../apps/parley/src/commands/backup/contents.ts';
import { restoreBackup } from '../../apps/parley/src/commands/backup/restore-backup.ts';
import { decideUpgrade } from '../../apps/parley/src/commands/upgrade/decide.ts';
import { backUp, LIMITS, planRehearsal } from '../../apps/parley/src/commands/upgrade/rehearse.ts';
import {
  type ReleaseRecord,
  runRelease,
} from '../../apps/parley/src/commands/upgrade/run-release.ts';
import { readRelease } from '../../apps/parley/src/commands/upgrade/unpack-release.ts';
import { type DataFolder, locateDataFolder } from '../../apps/parley/src/data-folder.ts';
import { readSettings } from '../../apps/parley/src/settings.ts';
import { BAD_BUILDS } from './bad-builds.ts';
import { type PackedBuilds, packBuilds } from './installed.ts';

const FIXTURE = join(import.meta.dirname, '../upgrade/fixtures/schema-37/backup.tar.gz');
const VARIABLE = 'BOT_TOKEN';
const SECRET = '123456:the-token-of-a-real-bot';
const LIMITS_HERE = {
  ...LIMITS,
  ...{
    startMs: 12_000,
    stopMs: 12_000,
    runMs: 2_000,
    answerMs: 4_000,
    settleMs: 300,
    unanswered: 1,
  },
};

let builds: PackedBuilds;
let folder: DataFolder;
let plan: Awaited<ReturnType<typeof planRehearsal>>;
let before: ReleaseRecord;
let print: string;

beforeAll(async () => {
  builds = await packBuilds();
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-rehearsal-')), {});
  const settings = {
    ...{ model: 'offline', owners: ['telegram:501'] },
    channels: { telegram: { token: `\${${VARIABLE}}` } },
  };
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.settingsFile, JSON.stringify(settings));
  const env = { [VARIABLE]: SECRET };
  await restoreBackup({
    ...{ backup: await checkBackup(FIXTURE), folder, env, clock: systemTime.clock },
    ...{ unfinished: 'hold', withSettings: false },
  });
  const installation = { folder, env, loaded: readSettings(folder, env), clock: systemTime.clock };
  const backup = join(builds.folder, 'backup.tar.gz');
  await backUp(installation, backup);
  print = printFolder();
  const current = builds.change('old', {});
  plan = await planRehearsal(installation, backup, current, LIMITS_HERE);
  before = await runRelease(readRelease(current), copyFor('old'), plan);
});
afterAll(async () => {
  await plan?.close();
  builds?.remove();
  rmSync(folder.path, { recursive: true, force: true });
});

const copyFor = (name: string): string => join(plan.base, '..', name.replaceAll(' ', '-'));

/** Everything in the data folder except for the copies. */
function printFolder(): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.includes('/upgrading-')) continue;
    hash.update(path).update(readFileSync(path));
  }
  return hash.digest('hex');
}

async function judge(root: string, name: string) {
  const after = await runRelease(readRelease(root), copyFor(name), plan);
  return { after, decision: decideUpgrade(before, after) };
}

describe('a rehearsal', () => {
  it('[D18] compares with a version that answers, and whose owner sees the private note', () => {
    expect(before.answers.every(({ seen }) => seen.every((count) => count === 1))).toBe(true);
    expect([before.showsCanary, before.leaks]).toEqual([true, []]);
  });

  it('[D18] lets a good build pass, and neither touches the data folder nor takes its secrets along', async () => {
    const root = builds.change('good', { version: '0.2.0' });
    const { after, decision } = await judge(root, 'good');
    expect(decision.findings.filter(({ level }) => level !== 'note')).toEqual([]);
    expect(decision.kind).toBe('go');
    expect(after.answers.every(({ seen }) => seen.every((count) => count === 1))).toBe(true);
    expect(printFolder()).toBe(print);
    const files = readdirSync(copyFor('good'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    expect(files.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  const due = BAD_BUILDS.filter((_, nth) => isDueToday(nth, 8));
  it.each(due)(
    '[D18] refuses a build with this fault: $name',
    async ({ kind, name, ...change }) => {
      const { decision } = await judge(builds.change(name.replaceAll(' ', '-'), change), name);
      const reasons = decision.findings.filter(({ level }) => level !== 'note');
      if (process.env.PARLEY_SHOW_FINDINGS === '1')
        process.stdout.write(
          `| ${name} | ${reasons.map((one) => one.text.slice(0, 160)).join('; ')} |\n`,
        );
      expect(decision.kind).toBe('refuse');
      expect(reasons.map((one) => one.kind)).toContain(kind);
      expect(printFolder()).toBe(print);
    },
  );
});
