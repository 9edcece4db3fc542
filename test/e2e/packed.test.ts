import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readManifest } from '@parley/cli/bundle';
import { isWholeRun } from '@parley/core/testing';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { webClient } from './web-client.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
/** A data folder created and used at the last commit before schema 32, which added agents. */
const OLDER = join(import.meta.dirname, 'fixtures/data-of-schema-31.tar.gz');
const MEGABYTE = 1_000_000;
/** The maximum disk space of everything besides Node (U06). */
const INSTALLED_BYTES = 120 * MEGABYTE;

/** As on a machine with its own, perhaps old, Node, and nothing of this clone. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

const started: ChildProcess[] = [];
let folder = '';
let installed = '';
/** Installs the package as a user does. */
async function install(file: string): Promise<void> {
  const args = ['install', '--global', '--prefix', folder, '--prefer-offline', '--loglevel=error'];
  await run('npm', [...args, file], { cwd: folder });
}

/**
 * Unpacks it where npm would install it, beside links to the local libraries: npm takes seconds of
 * processor time.
 */
async function unpack(file: string): Promise<void> {
  const libraries = join(installed, 'node_modules');
  mkdirSync(libraries, { recursive: true });
  await extract({ file, cwd: installed, strip: 1 });
  const names = readdirSync(join(ROOT, 'node_modules'));
  for (const name of names.filter((one) => one !== '@parley' && !one.startsWith('.')))
    symlinkSync(join(ROOT, 'node_modules', name), join(libraries, name));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(installed, 'apps/parley/bin/parley.js'), join(folder, 'bin/parley'));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-packed-'));
  installed = join(folder, 'lib/node_modules/parley');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const [{ filename } = { filename: '' }] = z
    .array(z.object({ filename: z.string() }))
    .parse(JSON.parse(stdout));
  await (isWholeRun() ? install : unpack)(join(folder, filename));
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

describe('the package that "npm pack" creates', () => {
  it('[U06] contains the bundle that "npm start" runs, and neither sources nor tests', () => {
    const own = filesIn(installed)
      .map((file) => file.slice(installed.length + 1))
      .filter((file) => !file.startsWith('node_modules/'));
    const { hash = '' } = readManifest(ROOT) ?? {};
    expect(own).toContain(`dist/${hash}/main.mjs`);
    expect(own).toContain(`dist/${hash}/page/index.html`);
    const others = own.filter((file) => file.startsWith('dist/') && !file.includes(hash));
    expect(others).toEqual(['dist/bundle.json']);
    expect(own.filter((file) => /\.tsx?$|\.map$|(^|\/)(src|test|testing)\//.test(file))).toEqual(
      [],
    );
    expect(own).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']));
  });

  if (isWholeRun())
    it('[U06] contains no compiler, and takes at most 120 MB besides Node', () => {
      const libraries = readdirSync(join(installed, 'node_modules'));
      expect(libraries).toEqual(expect.arrayContaining(['discord.js', 'telegraf', 'sharp']));
      const compilers = /^(typescript|esbuild|vitest|@biomejs|turbo|@opentelemetry|react|preact)$/;
      expect(libraries.filter((name) => compilers.test(name))).toEqual([]);
      const beside = filesIn(installed).filter(
        (file) => !/\/node_modules\/node-\w+-\w+\//.test(file),
      );
      const bytes = beside.reduce((sum, file) => sum + lstatSync(file).blocks * 512, 0);
      expect(bytes).toBeLessThan(INSTALLED_BYTES);
    });

  it('[U06] names the license of every library in the bundle, and none of them is a GPL', () => {
    const { hash = '' } = readManifest(ROOT) ?? {};
    const text = readFileSync(join(installed, 'dist', hash, 'LICENSES.txt'), 'utf8');
    const heads = [...text.matchAll(/^-{80}\n\n(\S+) (\S+), (.+)$/gm)].map(
      ([, name, , license]) => [name, license],
    );
    expect(heads).toEqual(
      expect.arrayContaining([
        ['bullmq', 'MIT'],
        ['preact', 'MIT'],
      ]),
    );
    expect(heads.filter(([, license]) => /GPL|see its text/i.test(license ?? ''))).toEqual([]);
  });
});

describe('an installed Parley', () => {
  it('[U06] starts in an empty home, answers, and refers to its commands as they are typed there', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    const parley = await startInstalled(home);
    const [, script = ''] = /src="([^"]+)"/.exec(await (await fetch(parley.address)).text()) ?? [];
    expect(await (await fetch(`${parley.address}${script}`)).text()).toContain('import');
    expect(await answerTo(parley, 'hello')).toEqual(['> hello', expect.stringContaining('<p>')]);
    expect(parley.out()).toMatch(/^or type +parley chat +\(/m);
    expect(await parley.end()).toBe(0);
  });

  it('[U06] [F03] continues with an older data folder, and names the library that is missing', async () => {
    const home = join(folder, 'older');
    const data = join(home, '.parley');
    mkdirSync(data, { recursive: true });
    await extract({ file: OLDER, cwd: data });
    appendFileSync(join(data, 'parley.yaml'), 'channels: { telegram: { token: "1:x" } }\n');
    const library = join(installed, 'node_modules/telegraf');
    renameSync(library, `${library}.away`);
    const parley = await startInstalled(home);
    const shown = await answerTo(parley, 'hello');
    expect(shown).toEqual(expect.arrayContaining(['> hello from the older Parley', '> hello']));
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(ROOT, 'node_modules/telegraf/package.json'), 'utf8')));
    expect(parley.out()).toContain('Telegram needs the library telegraf, which is not installed');
    expect(parley.out()).toContain(`npm install --global telegraf@${version}`);
    expect(await parley.end()).toBe(0);
    renameSync(`${library}.away`, library);
  });
});

interface Installed {
  readonly address: string;
  readonly token: string;
  out(): string;
  end(): Promise<number | null>;
}

async function startInstalled(home: string): Promise<Installed> {
  const child = spawn(join(folder, 'bin/parley'), ['start', '--port', '0'], {
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

async function answerTo(parley: Installed, text: string): Promise<readonly string[]> {
  const client = webClient(parley);
  await client.post(text);
  await expect
    .poll(async () => (await client.history()).join('\n'))
    .toMatch(new RegExp(`^> ${text}\n<p>`, 'm'));
  return client.history();
}
