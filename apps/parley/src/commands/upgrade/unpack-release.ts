import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '@parley/core';
import { z } from 'zod';
import { createUpgradeError } from './upgrade-error.ts';

/** An unpacked release, or the running installation. */
export interface Release {
  /** The folder with `apps/parley/bin/parley.js`. */
  readonly root: string;
  readonly version: string;
}

const Manifest = z.object({
  name: z.literal('parley'),
  version: z.string().regex(/^\d+\.\d+\.\d+[0-9A-Za-z.+-]*$/),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/** Today's release has 800 entries and 19 MB unpacked. */
const MAX_ENTRIES = 20_000;
const MAX_UNPACKED_BYTES = 500_000_000;
/** The deadline (ms) of `npm ci`. */
const INSTALL_WITHIN_MS = 10 * 60_000;

export function readRelease(root: string): Release {
  return { root, version: readManifest(root).version };
}

/**
 * Unpacks a verified release into `folder/VERSION/parley`, and gives it the libraries of the
 * running installation, or those that its own lock file names. The folder gets its final name only
 * when it is complete.
 */
export async function unpackRelease(
  file: string,
  folder: string,
  current: Release,
): Promise<Release> {
  await refuseUnsafeEntries(file);
  const part = join(folder, `.part-${process.pid}`);
  rmSync(part, { recursive: true, force: true });
  mkdirSync(join(part, 'parley'), { recursive: true });
  // The user of a system service must be able to read the release.
  for (const path of [folder, part, join(part, 'parley')]) chmodSync(path, 0o755);
  try {
    const root = join(part, 'parley');
    const { extract } = await import('tar');
    // Only root can set owners; the archive's owners mean nothing on this machine.
    await extract({ file, cwd: root, strip: 1, preserveOwner: false, umask: 0o022 });
    const { version } = readPackedManifest(root, file);
    const place = join(folder, version);
    refuseRunning(place, version, current);
    openToReaders(root);
    await provideLibraries(root, current);
    rmSync(place, { recursive: true, force: true });
    renameSync(part, place);
    return { root: join(place, 'parley'), version };
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** Replacing the files of the running release would break it. */
function refuseRunning(place: string, version: string, { root }: Release): void {
  if (!existsSync(place) || !realpathSync(root).startsWith(realpathSync(place) + sep)) return;
  throw createUpgradeError(
    'upgrade-not-a-release',
    `Parley ${version} runs already, from ${place}. Nothing was changed.`,
  );
}

/** Whatever the umask is, the user of a system service must be able to read the release. */
function openToReaders(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
    chmodSync(
      join(entry.parentPath, entry.name),
      entry.isDirectory() || entry.parentPath.endsWith('/bin') ? 0o755 : 0o644,
    );
}

/** Refuses an archive that would write outside its folder, or that is unreasonably large. */
async function refuseUnsafeEntries(file: string): Promise<void> {
  const refuse = (why: string, cause?: unknown) =>
    createUpgradeError(
      'upgrade-not-a-release',
      `${file} is not a packed release of Parley: ${why}. Nothing was installed. Use a file that "npm run release:pack" has made.`,
      cause,
    );
  let problem: string | undefined;
  let [entries, bytes] = [0, 0];
  const { list } = await import('tar');
  try {
    await list({
      file,
      strict: true,
      onReadEntry: ({ path, type, size = 0 }) => {
        entries += 1;
        bytes += size;
        const segments = path.split(/[/\\]/);
        if (segments[0] !== 'package' || segments.includes('..'))
          problem ??= `it contains the path ${path}`;
        if (type !== 'File' && type !== 'Directory' && type !== 'OldFile')
          problem ??= `${path} is neither a file nor a folder`;
      },
    });
  } catch (error) {
    throw refuse(reasonOf(error), error);
  }
  if (entries > MAX_ENTRIES || bytes > MAX_UNPACKED_BYTES) problem ??= 'it is too large';
  if (problem !== undefined) throw refuse(problem);
}

function readManifest(root: string): z.infer<typeof Manifest> {
  return Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
}

function readPackedManifest(root: string, file: string): z.infer<typeof Manifest> {
  try {
    const { hash } = z
      .object({ hash: z.string().regex(/^[0-9a-f]+$/) })
      .parse(JSON.parse(readFileSync(join(root, 'dist/bundle.json'), 'utf8')));
    if (!existsSync(join(root, 'dist', hash, 'main.mjs'))) throw new Error('it has no main.mjs');
    return readManifest(root);
  } catch (error) {
    throw createUpgradeError(
      'upgrade-not-a-release',
      `${basename(file)} is not a complete release of Parley (${reasonOf(error)}). Nothing was installed.`,
      error,
    );
  }
}

/**
 * The bundle contains all libraries but the optional ones, which are pinned. The same versions are
 * shared with the running installation, so that an upgrade usually needs no network.
 */
async function provideLibraries(root: string, current: Release): Promise<void> {
  const wanted = readManifest(root).optionalDependencies;
  const present = readManifest(current.root).optionalDependencies;
  const changed = Object.entries(wanted).filter(([name, version]) => present[name] !== version);
  if (changed.length === 0) {
    const libraries = join(current.root, 'node_modules');
    if (existsSync(libraries)) symlinkSync(realpathSync(libraries), join(root, 'node_modules'));
    return;
  }
  if (existsSync(join(root, 'npm-shrinkwrap.json'))) return await installLocked(root);
  const names = changed.map(([name, version]) => `${name} ${version}`).join(', ');
  throw createUpgradeError(
    'upgrade-libraries',
    `The release needs other libraries (${names}) and contains no npm-shrinkwrap.json that pins them. Nothing was installed. Upgrade by hand: docs/upgrade.md.`,
  );
}

/** Installs exactly what the release's lock file names, and runs no package's scripts. */
async function installLocked(root: string): Promise<void> {
  const args = ['ci', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', args, { cwd: root, timeout: INSTALL_WITHIN_MS });
  } catch (error) {
    throw createUpgradeError(
      'upgrade-libraries',
      `npm could not install the libraries of the release (${reasonOf(error)}). Nothing was changed. Check the network, and try again.`,
      error,
    );
  }
}
