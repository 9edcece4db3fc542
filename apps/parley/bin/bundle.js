// Decides which program runs: the bundle in dist/<hash>/, or the sources if the bundle was not
// built from them. It is plain JavaScript because loading TypeScript costs Node 16 MB of memory.
// The build writes `dist/bundle.json`.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {object} Manifest
 * @property {string} hash of the contents of `files`; also the name of the bundle's folder
 * @property {string} stamp of the same files, computed without reading them
 * @property {string[]} files all inputs of the bundle, relative to the root
 */

/**
 * @typedef {object} Program
 * @property {string | null} folder of the bundle; null to run the sources
 * @property {string} note why the sources run; empty if the bundle runs
 */

/**
 * @param {string} root
 * @returns {Program}
 */
export function findProgram(root) {
  const manifest = readManifest(root);
  if (manifest === null) return { folder: null, note: 'There is no bundle of these sources' };
  const folder = join(root, 'dist', manifest.hash);
  if (!existsSync(join(folder, 'main.mjs'))) {
    return { folder: null, note: 'The bundle is not complete' };
  }
  // An installed package has no sources that could be newer.
  const isFresh = !existsSync(join(root, 'apps/parley/src')) || isMadeOf(root, manifest);
  return isFresh ? { folder, note: '' } : { folder: null, note: 'The sources have changed' };
}

/**
 * Tells builds that this process runs a bundle, because it loads some of its files only on first
 * use.
 * @param {string} folder
 */
export function noteRunning(folder) {
  try {
    mkdirSync(join(folder, 'running'), { recursive: true });
    writeFileSync(join(folder, 'running', String(process.pid)), '');
  } catch {
    // The folder is not writable, as in an image; nothing is built there either.
  }
}

/**
 * Whether a process runs the bundle. A later process that reuses its id counts as well.
 * @param {string} folder
 */
export function isRunning(folder) {
  const noted = join(folder, 'running');
  return existsSync(noted) && readdirSync(noted).some((pid) => isAlive(Number(pid)));
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * The URL of a module of the program, by its name in the bundle and its path in the sources.
 * @param {string} root
 * @param {Program} program
 * @param {{ name: string, source: string }} module
 */
export function programModule(root, { folder }, { name, source }) {
  return pathToFileURL(folder === null ? join(root, source) : join(folder, `${name}.mjs`)).href;
}

/**
 * @param {string} root
 * @returns {Manifest | null}
 */
export function readManifest(root) {
  try {
    return JSON.parse(readFileSync(manifestPath(root), 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Replaces the manifest atomically, so that a start sees either the old or the new one.
 * @param {string} root
 * @param {Manifest} manifest
 */
export function writeManifest(root, manifest) {
  const part = `${manifestPath(root)}.${process.pid}`;
  writeFileSync(part, JSON.stringify(manifest));
  renameSync(part, manifestPath(root));
}

/**
 * Changes whenever one of the files does: the kernel sets `ctime`, and programs cannot override it.
 * Copying a file changes it as well, so a different stamp does not prove a change.
 * @param {string} root
 * @param {readonly string[]} files
 */
export function stampOf(root, files) {
  let all = '';
  for (const file of files) {
    const found = statSync(join(root, file), { throwIfNoEntry: false });
    all += found === undefined ? '-' : `${found.ino} ${found.size} ${found.ctimeMs} `;
  }
  return createHash('sha256').update(all).digest('hex');
}

/**
 * @param {string} root
 * @param {readonly string[]} files
 */
export function hashOf(root, files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(root, file));
    hash.update(`\n${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param {string} root
 * @param {Manifest} manifest
 */
function isMadeOf(root, manifest) {
  const stamp = stampOf(root, manifest.files);
  if (stamp === manifest.stamp) return true;
  try {
    if (hashOf(root, manifest.files) !== manifest.hash) return false;
  } catch {
    return false; // One of the files is gone.
  }
  try {
    writeManifest(root, { ...manifest, stamp });
  } catch {
    // The manifest is not writable, so the next start reads all files again.
  }
  return true;
}

/**
 * The installation that `parley upgrade` has put in place of this one, below `releases/`; null if
 * there is none, or if it is not complete. A release that npm installs replaces the whole folder,
 * and with it this choice.
 * @param {string} root
 * @returns {string | null}
 */
export function findUpgraded(root) {
  try {
    const { release } = JSON.parse(readFileSync(upgradedPath(root), 'utf8'));
    const isInside = normalize(release).startsWith('releases') && !isAbsolute(release);
    const found = join(root, release);
    return isInside && findProgram(found).folder !== null ? found : null;
  } catch {
    return null;
  }
}

/**
 * Chooses the installation that starts from now on, atomically; null chooses `root` itself.
 * @param {string} root
 * @param {string | null} release relative to `root`
 */
export function writeUpgraded(root, release) {
  if (release === null) return rmSync(upgradedPath(root), { force: true });
  const part = `${upgradedPath(root)}.${process.pid}`;
  writeFileSync(part, JSON.stringify({ release }), { mode: 0o644 });
  renameSync(part, upgradedPath(root));
}

/** @param {string} root */
function upgradedPath(root) {
  return join(root, 'dist', 'upgraded.json');
}

/** @param {string} root */
function manifestPath(root) {
  return join(root, 'dist', 'bundle.json');
}
