import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isFullRun } from '@parley/core/testing';
import { extract } from 'tar';
import { expect } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Simulates a machine with its own, perhaps old, Node and without this clone. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

/** The packed release, installed globally below a temporary folder. */
export interface PackedRelease {
  readonly folder: string;
  readonly installed: string;
  readonly file: string;
  /** The size of the packed file in bytes. */
  readonly size: number;
  /** Runs `parley` for the user of a home folder. */
  start(home: string, ...args: readonly string[]): Promise<InstalledParley>;
  remove(): void;
}

export interface InstalledParley {
  readonly address: string;
  readonly token: string;
  out(): string;
  end(): Promise<number | null>;
}

/** Packs the release and installs it with npm in a full run, or with a faster copy otherwise. */
export async function installRelease(): Promise<PackedRelease> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-packed-')));
  const installed = join(folder, 'lib/node_modules/parley');
  const main = join(ROOT, 'apps/parley/src/build/main.ts');
  const { stdout } = await run(process.execPath, [main, '--pack', folder], { cwd: ROOT });
  const { file, size } = z.object({ file: z.string(), size: z.number() }).parse(JSON.parse(stdout));
  await (isFullRun() ? installWithNpm : unpackRelease)(file, { folder, installed });
  const started: ChildProcess[] = [];
  return {
    folder,
    installed,
    file,
    size,
    start: (home, ...args) => startInstalled(join(folder, 'bin/parley'), home, args, started),
    remove() {
      for (const child of started) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type ReleaseLocation = Pick<PackedRelease, 'folder' | 'installed'>;

/** Installs the package with npm. */
async function installWithNpm(file: string, { folder }: ReleaseLocation): Promise<void> {
  const args = ['install', '--global', '--prefix', folder, '--prefer-offline', '--loglevel=error'];
  await run('npm', [...args, file], { cwd: folder });
}

/**
 * Unpacks the package where npm would install it and links the local libraries, because npm takes
 * seconds of processor time.
 */
async function unpackRelease(file: string, { folder, installed }: ReleaseLocation): Promise<void> {
  const libraries = join(installed, 'node_modules');
  mkdirSync(libraries, { recursive: true });
  await extract({ file, cwd: installed, strip: 1 });
  const names = readdirSync(join(ROOT, 'node_modules'));
  for (const name of names.filter((one) => one !== '@parley' && !one.startsWith('.')))
    symlinkSync(join(ROOT, 'node_modules', name), join(libraries, name));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(installed, 'apps/parley/bin/parley.js'), join(folder, 'bin/parley'));
}

async function startInstalled(
  program: string,
  home: string,
  args: readonly string[],
  started: ChildProcess[],
): Promise<InstalledParley> {
  const child = spawn(program, ['start', '--port', '0', ...args], {
    cwd: home,
    env: { PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const ended = once(child, 'close');
  await expect.poll(() => out, { timeout: 60_000 }).toContain('Stop with Ctrl-C');
  const [, address = ''] = /Chat now +(\S+)/.exec(out) ?? [];
  return {
    address,
    token: readFileSync(join(home, '.parley/token'), 'utf8').trim(),
    out: () => out,
    async end() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}
