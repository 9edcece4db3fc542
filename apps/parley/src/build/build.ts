import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  findProgram,
  hashOf,
  isRunning,
  type Manifest,
  stampOf,
  writeManifest,
} from '@parley/cli/bundle';
import { buildPage, type PageBuild } from '@parley/console/build';
import { bundleModules } from './bundle-modules.ts';
import { formatLicenses, listBundledLibraries } from './licenses.ts';

/**
 * The number of bundles to keep in addition to those in use. Another process may be about to start
 * one of them.
 */
const KEPT = 2;
/**
 * How far (ms) the kernel's clock, which sets file timestamps, may lag behind the process's clock.
 */
const CLOCK_STEP_MS = 100;
const TRIES = 3;

/**
 * Builds the bundle of the sources under `root` into `dist/<hash>/`, unless that bundle exists
 * already. The folder gets its final name only when it is complete, so that other processes never
 * see a partial bundle.
 */
export async function buildBundle(root: string): Promise<'built' | 'there'> {
  if (findProgram(root).folder !== null) return 'there';
  const dist = join(root, 'dist');
  const part = join(dist, `part-${process.pid}`);
  try {
    const manifest = await writeBundle(root, part);
    const folder = join(dist, manifest.hash);
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
    writeManifest(root, manifest);
    removeOldBundles(dist, manifest.hash);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  await fillCache(root);
  return 'built';
}

function writeBundle(root: string, part: string): Promise<Manifest> {
  const write = async (): Promise<Manifest> => {
    rmSync(part, { recursive: true, force: true });
    const { inputs } = await bundleModules(root, part);
    const page = await buildPage();
    writePage(join(part, 'page'), page);
    const all = [...Object.keys(inputs).map((file) => join(root, file)), ...page.inputs];
    writeFileSync(join(part, 'LICENSES.txt'), formatLicenses(listBundledLibraries(all)));
    const files = listSources(root, Object.keys(inputs));
    return { hash: hashOf(root, files), stamp: stampOf(root, files), files };
  };
  return buildUntilUnchanged(write, ({ files }, startedAt) =>
    files.find((file) => statSync(join(root, file)).ctimeMs >= startedAt),
  );
}

/**
 * Repeats a build if a source changes while the build runs, because the bundle may contain the
 * older version. Throws after `TRIES` builds, for example if a program keeps writing to the
 * sources, or if the clock was set back and a file's date is in the future.
 */
export async function buildUntilUnchanged<Built>(
  write: () => Promise<Built>,
  changedSince: (built: Built, startedAt: number) => string | undefined,
): Promise<Built> {
  let changed: string | undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const startedAt = Date.now() - CLOCK_STEP_MS;
    const built = await write();
    changed = changedSince(built, startedAt);
    if (changed === undefined) return built;
  }
  throw new Error(
    `${changed} changed during each of ${TRIES} builds, or its date is in the future. Check the clock and build again.`,
  );
}

/**
 * Lists the source files of the bundle. One file, which npm writes on every install, stands for all
 * libraries.
 */
function listSources(root: string, inputs: readonly string[]): string[] {
  const own = inputs.filter((file) => /^(apps|packages)\//.test(file));
  const build = listFiles(root, 'apps/parley/src/build');
  const page = listFiles(root, 'apps/console/src');
  const manifests = own.map((file) => `${file.split('/').slice(0, 2).join('/')}/package.json`);
  const npm = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
  const files = [...own, ...build, ...page, ...manifests, ...npm];
  return [...new Set(files)].filter((file) => existsSync(join(root, file))).sort();
}

function listFiles(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function writePage(folder: string, { page }: PageBuild): void {
  for (const [path, content] of page) {
    const file = join(folder, path === '/' ? 'index.html' : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Removes all bundles except the current one, the previous one, and those in use. */
export function removeOldBundles(dist: string, current: string): void {
  const others = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== current)
    .map(({ name }) => ({ path: join(dist, name), at: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  const old = others.slice(KEPT - 1).filter(({ path }) => !isRunning(path));
  for (const { path } of old) rmSync(path, { recursive: true, force: true });
}

/**
 * The deadline (ms) for the start that fills the compile cache. If filling the cache fails, the
 * first real start fills it instead.
 */
const WITHIN_MS = 20_000;
/** No server listens on this port, so the Telegram library is loaded but does not connect. */
const SETTINGS = {
  model: 'offline',
  http: { port: 0 },
  channels: { telegram: { token: '1:none', apiRoot: 'http://127.0.0.1:9' } },
};

/**
 * Starts and stops the program once with a temporary data folder. Node then stores its compiled
 * code next to the bundle, so the first real start is fast.
 */
async function fillCache(root: string): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'parley-build-'));
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(SETTINGS));
  const args = ['--max-semi-space-size=8', join(root, 'apps/parley/bin/parley.js')];
  const child = spawn(process.execPath, [...args, '--data', data, 'start'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('Stop with Ctrl-C')) child.kill('SIGTERM');
  });
  await once(child, 'close');
  rmSync(data, { recursive: true, force: true });
}
