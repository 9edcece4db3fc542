import {
  type ChildProcess,
  exec,
  execFile,
  execFileSync,
  execSync,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listRepositoryFiles } from '../repository-files.ts';
import { judgeStart, takeRefusedStarts } from './listed-programs.ts';
import { listNeeds } from './needs.ts';
import { ALWAYS_THERE, NODE_PROGRAMS, PROGRAMS, SERVICE_NAMES } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Present on almost every machine, but not in the list. */
const UNLISTED = 'seq';

afterEach(() => {
  vi.unstubAllEnvs();
  takeRefusedStarts();
});

describe('an unlisted program', () => {
  it.each<[string, () => unknown]>([
    ['spawn', () => spawn(UNLISTED, ['1'])],
    ['spawnSync', () => spawnSync(UNLISTED, ['1'])],
    ['execFile', () => execFile(UNLISTED, ['1'], () => undefined)],
    ['execFileSync', () => execFileSync(UNLISTED, ['1'])],
    ['a path', () => spawnSync('/usr/bin/seq', ['1'])],
  ])(
    '[U09] cannot be started by a test with %s, and the error says where to add it',
    (_how, start) => {
      expect(start).toThrow(
        /starts \S*seq, which is not in the list of test\/services\/programs\.ts/,
      );
    },
  );

  it('[U09] fails a test that ignores the error', () => {
    expect(() => spawnSync(UNLISTED)).toThrow();
    expect(takeRefusedStarts()).toEqual([expect.stringContaining(`starts ${UNLISTED}`)]);
  });

  it('[U09] is found neither by a shell nor by another process', async () => {
    expect(() => execSync(`${UNLISTED} 1`, { stdio: 'pipe' })).toThrow('not found');
    await expect(promisify(exec)(`command -v ${UNLISTED}`)).rejects.toThrow();
    const program = `console.log(require('node:child_process').spawnSync('${UNLISTED}').error?.code)`;
    expect(execFileSync(process.execPath, ['-e', program]).toString()).toBe('ENOENT\n');
  });
});

describe('a listed program', () => {
  it.each([
    process.execPath,
    ...['sh', '/bin/sh', 'npm', 'no-such-program', 'git', '/usr/bin/bwrap', '/opt/pg/bin/postgres'],
    join(ROOT, 'node_modules/.bin/turbo'),
  ])('[U09] may be started: %s', (file) => {
    expect(judgeStart(file, {})).toEqual({ kind: 'listed' });
  });

  it('[U09] may be started where a test wrote it itself, by its path or on the PATH that it passes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-doubles-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'systemctl');
    writeFileSync(file, '#!/bin/sh\nexit 7\n', { mode: 0o755 });
    expect(spawnSync(file).status).toBe(7);
    expect(spawnSync('systemctl', { env: { PATH: folder } }).status).toBe(7);
    expect(() => spawnSync('systemctl')).toThrow('not in the list');
  });

  it.each(SERVICE_NAMES.filter((name) => PROGRAMS[name].names.length > 0))(
    '[U09] appears to be missing once it is switched off: %s',
    async (service) => {
      const [name = ''] = PROGRAMS[service].names;
      vi.stubEnv(PROGRAMS[service].variable, 'none');
      expect(judgeStart(name)).toEqual({ kind: 'switched-off' });
      expect(spawnSync(name).error).toMatchObject({ code: 'ENOENT' });
      expect(await firstError(spawn(`/usr/bin/${name}`))).toMatchObject({ code: 'ENOENT' });
      expect(takeRefusedStarts()).toEqual([]);
    },
  );

  it('[U09] is the one that its environment variable names', () => {
    const env = { PARLEY_TEST_CHROMIUM: '/opt/browser/ungoogled' };
    expect(judgeStart('/opt/browser/ungoogled', env)).toEqual({ kind: 'listed' });
    expect(judgeStart('/opt/browser/ungoogled', {})).toMatchObject({ kind: 'unlisted' });
  });
});

async function firstError(child: ChildProcess): Promise<unknown> {
  const [error] = await once(child, 'error').catch((thrown: unknown) => [thrown]);
  return error;
}

describe('the list of programs', () => {
  const files = listRepositoryFiles();
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

  it('[U09] covers each program that a source names by path', () => {
    const known = SERVICE_NAMES.flatMap((name) => {
      const { names, beside = [] }: { names: readonly string[]; beside?: readonly string[] } =
        PROGRAMS[name];
      return [...names, ...beside];
    });
    // The shell of a user who cannot sign in: named, but never started.
    const listed = new Set([...ALWAYS_THERE, ...NODE_PROGRAMS, ...known, 'nologin']);
    const named = files
      .filter((file) => /^(apps|packages|test|examples)\/.*\.(ts|js)$/.test(file))
      .filter((file) => file !== 'test/services/programs.test.ts')
      .flatMap((file) =>
        [...textOf(file).matchAll(/['"`](?:\/usr(?:\/local)?)?\/s?bin\/([\w.-]+)['"`]/g)].map(
          ([, name = '']) => [name, file] as const,
        ),
      );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(([name]) => !listed.has(name))).toEqual([]);
  });

  it('[U09] is used by at least one test', () => {
    const tests = files.filter((file) => /^(?!test\/services\/).*\.test\.ts$/.test(file));
    const asked = new Set(tests.flatMap((file) => listNeeds(join(ROOT, file))));
    expect(SERVICE_NAMES.filter((service) => !asked.has(service))).toEqual([]);
  });

  it('[U09] is in the documentation, with its environment variable', () => {
    for (const page of ['CONTRIBUTING.md', 'test/README.md']) {
      const missing = SERVICE_NAMES.map((name) => PROGRAMS[name].variable).filter(
        (variable) => !textOf(page).includes(variable),
      );
      expect({ page, missing }).toEqual({ page, missing: [] });
    }
  });
});
