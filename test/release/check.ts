// `npm run release:check`: checks a release beyond the tests. Packs both packages, reads the
// license of every library, asks the registry for advisories, runs the tests of the packed files,
// and runs both commands of the README on a bare machine. Exits with 1 when something is wrong.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { openBareMachine } from './bare-machine.ts';
import {
  type AdvisoryReport,
  findLicenseProblems,
  type LockedLibrary,
  parseAdvisories,
} from './libraries.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** After this time without an answer the registry counts as unreachable, in ms. */
const ADVISORIES_MS = 60_000;
const TESTS = [
  'test/e2e/packed.test.ts',
  'test/release/image.test.ts',
  'packages/bullmq-sqlite/src/packed.test.ts',
  'packages/store/src/upgrade.test.ts',
];

const problems: string[] = [];
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function checkVersion(): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const log = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [, newest] = /^## (\S+)/m.exec(log) ?? [];
  if (newest !== version) {
    problems.push(`CHANGELOG.md starts with ${newest}, but package.json says ${version}.`);
  }
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
  if (changed !== '') problems.push(`There are uncommitted changes:\n${changed}`);
  say(`version      ${version}, newest in the changelog: ${newest}`);
}

function checkTarballs(): void {
  const folder = mkdtempSync(join(tmpdir(), 'parley-release-'));
  const npm = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const { file, size, unpackedSize } = z
    .object({ file: z.string(), size: z.number(), unpackedSize: z.number() })
    .parse(JSON.parse(npm(ROOT, 'run', '--silent', 'release:pack', '--', folder)));
  say(`parley       ${basename(file)}: ${size} bytes, ${unpackedSize} unpacked`);
  const library = join(ROOT, 'packages/bullmq-sqlite');
  const out = npm(library, 'pack', '--json', '--pack-destination', folder);
  for (const packed of z
    .array(z.object({ filename: z.string(), size: z.number(), unpackedSize: z.number() }))
    .parse(JSON.parse(out.slice(out.indexOf('['))))) {
    say(`bullmq-sqlite ${packed.filename}: ${packed.size} bytes, ${packed.unpackedSize} unpacked`);
  }
  rmSync(folder, { recursive: true, force: true });
}

function checkLicenses(): void {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const libraries: Record<string, LockedLibrary> = lock.packages;
  const { named, wrong } = findLicenseProblems(libraries);
  problems.push(...wrong);
  say(`licenses     ${Object.keys(libraries).length} packages in the lockfile`);
  for (const line of named) say(`             ${line}`);
}

function checkAdvisories(): void {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: ADVISORIES_MS,
  });
  const found: AdvisoryReport = parseAdvisories(stdout ?? '');
  if (found.kind === 'silent')
    say(`advisories unknown: the registry did not answer (${found.reason})`);
  else say(`advisories   ${found.lines.length}`);
  if (found.kind === 'answered') problems.push(...found.lines);
}

function runTests(): void {
  const env = { ...process.env, PARLEY_TEST_WHOLE: '1' };
  const { status } = spawnSync('npx', ['vitest', 'run', ...TESTS], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  if (status !== 0) problems.push('The tests of the packed files failed.');
}

/** Runs both commands of the README in a fresh clone on a machine with only Node and npm (U09). */
async function checkBareMachine(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bare-'));
  const clone = join(folder, 'parley');
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const machine = openBareMachine(clone, folder);
  const check = (what: string, isRight: boolean, out: string): boolean => {
    if (!isRight) problems.push(`On a bare machine ${what} failed:\n${out.slice(-4_000)}`);
    return isRight;
  };
  const installed = await machine.run('npm', 'ci');
  if (check('npm ci', installed.code === 0, installed.out)) {
    const started = await machine.until('Stop with Ctrl-C', 'npm', 'start', '--', '--port', '0');
    check('npm start', started.includes('Stop with Ctrl-C'), started);
    const tested = await machine.run('npm', 'test');
    // Tests that did not run are listed at the end, and those that ran have passed.
    const isListed = tested.out.includes('DID NOT RUN: this machine lacks Redis');
    check('npm test', tested.code === 0 && isListed, tested.out);
    say(`bare machine ${tested.out.trimEnd().split('\n').at(-1)}`);
  }
  rmSync(folder, { recursive: true, force: true });
}

checkVersion();
checkTarballs();
checkLicenses();
checkAdvisories();
runTests();
await checkBareMachine();
for (const problem of problems) say(`WRONG        ${problem}`);
say(problems.length === 0 ? 'Ready for release.' : `${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;
