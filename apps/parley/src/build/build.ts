import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  findProgram,
  hashOf,
  isRunning,
  type Manifest,
  stampOf,
  writeManifest,
} from '@parley/cli/bundle';
import { openPageFiles } from '@parley/console';
import { bundleModules } from './bundle-modules.ts';
import { fillCache } from './fill-cache.ts';

/** Of bundles, besides those that a process runs: one may be about to start. */
const KEPT = 2;
/** The kernel's clock, which dates files, may be this much behind. */
const CLOCK_STEP_MS = 100;

/**
 * Makes the bundle of the sources under `root` in `dist/<hash>/`, unless there is one of them. Its folder
 * takes its name when it is complete: no start and no other build ever sees a part of one.
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
    removeOld(dist, manifest.hash);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  await fillCache(root);
  return 'built';
}

/** Again when a source has changed meanwhile, as the bundle may be of what it was before. */
async function writeBundle(root: string, part: string): Promise<Manifest> {
  for (;;) {
    const begun = Date.now() - CLOCK_STEP_MS;
    rmSync(part, { recursive: true, force: true });
    const { inputs } = await bundleModules(root, part);
    await writePage(join(part, 'page'));
    const files = sourcesOf(root, Object.keys(inputs));
    const manifest = { hash: hashOf(root, files), stamp: stampOf(root, files), files };
    if (files.every((file) => statSync(join(root, file)).ctimeMs < begun)) return manifest;
  }
}

/**
 * What the bundle is made of. Libraries change only when npm installs them, which it notes in a file
 * of its own.
 */
function sourcesOf(root: string, inputs: readonly string[]): string[] {
  const own = inputs.filter((file) => /^(apps|packages)\//.test(file));
  const build = filesIn(root, 'apps/parley/src/build');
  const page = filesIn(root, 'apps/console/src/page');
  const manifests = own.map((file) => `${file.split('/').slice(0, 2).join('/')}/package.json`);
  const npm = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
  const files = [...own, ...build, ...page, ...manifests, ...npm];
  return [...new Set(files)].filter((file) => existsSync(join(root, file))).sort();
}

function filesIn(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** The files of the page as they are served, under their paths. */
async function writePage(folder: string): Promise<void> {
  const page = await openPageFiles();
  for (const path of page.paths) {
    const file = join(folder, path === '/' ? 'index.html' : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, (await page.file(path))?.body ?? '');
  }
}

/** Removes all bundles but the current one, the one before it, and those that run. */
export function removeOld(dist: string, current: string): void {
  const others = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== current)
    .map(({ name }) => ({ path: join(dist, name), at: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  const old = others.slice(KEPT - 1).filter(({ path }) => !isRunning(path));
  for (const { path } of old) rmSync(path, { recursive: true, force: true });
}
