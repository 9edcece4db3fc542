import { execFile } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readManifest } from '@parley/cli/bundle';
import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBundleModule } from '../services/bundle.ts';
import { makeDataFolder, startParleyProcess } from './parley-process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = 'apps/parley/src/program.ts';
/** A line that only the output of `parley --help` contains. */
const SHOWN = 'print the last log lines and new ones';
let copy = '';
beforeAll(() => {
  copy = copyOfParley();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Creates a separate clone whose sources can be changed and which shares the libraries. */
function copyOfParley(): string {
  const to = realpathSync(mkdtempSync(join(tmpdir(), 'parley-clone-')));
  for (const name of ['apps', 'packages', 'config', 'package.json', 'package-lock.json']) {
    cpSync(join(ROOT, name), join(to, name), { recursive: true });
  }
  linkModules(join(ROOT, 'node_modules'), join(to, 'node_modules'), to);
  const { hash = '' } = readManifest(ROOT) ?? {};
  mkdirSync(join(to, 'dist'));
  cpSync(join(ROOT, 'dist/bundle.json'), join(to, 'dist/bundle.json'));
  cpSync(join(ROOT, 'dist', hash), join(to, 'dist', hash), { recursive: true });
  return to;
}

/** Links third-party libraries to the original, and Parley's packages to the copy. */
function linkModules(from: string, to: string, root: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    const isOurs = lstatSync(path).isSymbolicLink();
    if (name === '@parley') linkModules(path, join(to, name), root);
    else if (name === '.package-lock.json') cpSync(path, join(to, name));
    else
      symlinkSync(isOurs ? join(root, relative(ROOT, realpathSync(path))) : path, join(to, name));
  }
}

function change(file: string, was: string, is: string): void {
  const text = readFileSync(join(copy, file), 'utf8');
  expect(text).toContain(was);
  writeFileSync(join(copy, file), text.replace(was, is));
}

const node = async (...args: string[]) =>
  (await promisify(execFile)(process.execPath, args, { cwd: copy })).stdout;
const help = () => node('apps/parley/bin/parley.js', '--help');
const bundles = () => readdirSync(join(copy, 'dist')).filter((name) => !name.includes('.'));

describe('a clone with a bundle', () => {
  it('[U06] runs the bundle regardless of when its files were written', async () => {
    // This text is printed only if it comes from the bundle.
    const [hash = ''] = bundles();
    const chunk = join('dist', hash, 'main.mjs');
    change(chunk, SHOWN, 'from the bundle');
    expect(await help()).toContain('from the bundle');
  });

  it('[U06] runs the sources as soon as one of them has changed, and prints a notice', async () => {
    change(PROGRAM, SHOWN, 'from a changed source');
    expect(await help()).toContain('from a changed source');
    const data = makeDataFolder({ model: 'offline', http: { port: 0 } });
    const program = join(copy, 'apps/parley/bin/parley.js');
    const parley = await startParleyProcess(data.path, program, ['--data', data.path, 'start']);
    expect(parley.err().split('\n')[0]).toMatch(/^The sources have changed: .*"npm run build"/);
    const page = await (await fetch(parley.address)).text();
    const [, script = ''] = /src="([^"]+)"/.exec(page) ?? [];
    expect(await (await fetch(`${parley.address}${script}`)).text()).toContain('import');
    expect((await parley.end()).code).toBe(0);
    data.remove();
  });

  // Building takes several seconds of processor time, and every run builds the bundle the same way.
  if (isFullRun())
    it('[U06] runs the rebuilt bundle after the sources have changed', async () => {
      await node('apps/parley/src/build/main.ts');
      expect(bundles()).toHaveLength(2);
      const { hash = '' } = readManifest(copy) ?? {};
      change(join('dist', hash, 'main.mjs'), 'from a changed source', 'from the new bundle');
      expect(await help()).toContain('from the new bundle');
    });
});

describe('the bundle', () => {
  it('[U06] contains the built page but not the build tools', () => {
    const { hash = '' } = readManifest(ROOT) ?? {};
    const files = readdirSync(join(ROOT, 'dist', hash), { recursive: true }).map(String);
    expect(files).toContain('page/index.html');
    expect(files.filter((file) => /^build-page|esbuild/.test(file))).toEqual([]);
    const code = files.filter((file) => /^[^/]*\.mjs$/.test(file));
    const naming = code.filter((file) =>
      /(?:from|import\(|require\()\s*"esbuild"/.test(
        readFileSync(join(ROOT, 'dist', hash, file), 'utf8'),
      ),
    );
    expect(naming).toEqual([]);
  });
});

describe('the scripts that BullMQ loads for Redis', () => {
  it.each([
    ['ioredis', 'ioredis/built/index.js'],
    ['bullmq-scripts', 'bullmq/dist/cjs/scripts/index.js'],
  ])('[D09] [U06] %s is identical in the bundle and in the library', (name, file) => {
    const require = createRequire(getBundleModule('main'));
    const library = require(resolve(import.meta.dirname, '../../node_modules', file));
    expect(Object.keys(require(`./${name}.mjs`))).toEqual(Object.keys(library));
  });
});

describe('zod in the bundle', () => {
  it('[P16] offers plugins its messages in other languages, and loads them on first use', () => {
    const { z } = createRequire(getBundleModule('main'))('./zod.mjs');
    const said = () => z.string().safeParse(1).error.issues[0].message;
    expect(said()).toMatch(/^Invalid input/);
    z.config(z.locales.de());
    expect(said()).toMatch(/^Ungültige Eingabe/);
    z.config(z.locales.en());
    expect(said()).toMatch(/^Invalid input/);
  });
});
