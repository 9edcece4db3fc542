import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob } from 'node:path';
import { readManifest } from '@parley/cli/bundle';
import { z } from 'zod';
import { createPackedManifest, type Manifest, parseManifest } from './packed-manifest.ts';
import { createPackedExample, createPackedPage, listLinkedFiles } from './packed-texts.ts';

/** Files in the root folder that are packed in addition to `files` in package.json. */
const ROOT_FILES = ['README.md', 'LICENSE', 'SECURITY.md'];

export interface PackedRelease {
  readonly file: string;
  /** Size in bytes of the package file and of its contents. */
  readonly size: number;
  readonly unpackedSize: number;
}

/**
 * Packs the built bundle, the types, the docs and the examples with npm from a temporary folder.
 * The repository itself stays unchanged, because processes may be running from it.
 */
export function packRelease(root: string, destination: string): PackedRelease {
  const hash = readManifest(root)?.hash;
  if (hash === undefined) throw new Error('There is no bundle to pack. Run "npm run build".');
  const staging = mkdtempSync(join(tmpdir(), 'parley-pack-'));
  try {
    const manifest = parseManifest(readFileSync(join(root, 'package.json'), 'utf8'));
    stageFiles(root, staging, manifest, hash);
    return runNpmPack(staging, destination);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function stageFiles(root: string, staging: string, manifest: Manifest, hash: string): void {
  const files = listFilesToPack(root, manifest, hash);
  const isPacked = (file: string): boolean =>
    files.has(file) || [...files].some((one) => one.startsWith(`${file}/`));
  for (const file of files) {
    const to = join(staging, file);
    mkdirSync(dirname(to), { recursive: true });
    const changed = getPackedText(root, file, isPacked);
    if (changed === undefined) cpSync(join(root, file), to);
    else writeFileSync(to, changed);
  }
  const hasTypes = existsSync(join(root, 'types'));
  const packed = createPackedManifest(manifest, { hash, hasTypes });
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
}

/**
 * Lists the files in the release, as paths from the root: the named files and the images they link
 * to.
 */
function listFilesToPack(root: string, { files }: Manifest, hash: string): ReadonlySet<string> {
  const named = files.filter((pattern) => !pattern.startsWith('!'));
  const left = files.filter((pattern) => pattern.startsWith('!')).map((name) => name.slice(1));
  const isFile = (file: string): boolean =>
    existsSync(join(root, file)) && statSync(join(root, file)).isFile();
  const found = globSync(named, { cwd: root })
    .flatMap((path) => (isFile(path) ? [path] : globSync(`${path}/**`, { cwd: root })))
    .filter((path) => isFile(path) && !path.includes('node_modules/'))
    .filter((path) => !left.some((pattern) => matchesGlob(path, pattern)))
    // `dist/` may contain other bundles, some of them in use.
    .filter(
      (path) =>
        !path.startsWith('dist/') ||
        path === 'dist/bundle.json' ||
        path.startsWith(`dist/${hash}/`),
    );
  const pages = [...found, ...ROOT_FILES.filter(isFile)];
  const pictures = pages
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) => listLinkedFiles(page, readFileSync(join(root, page), 'utf8')))
    .filter((file) => file.startsWith('docs/images/') && isFile(file));
  return new Set([...pages, ...pictures]);
}

/**
 * Returns the packed text of a file that differs in the package; undefined for files that are
 * packed unchanged.
 */
function getPackedText(
  root: string,
  file: string,
  isPacked: (file: string) => boolean,
): string | undefined {
  const read = (): string => readFileSync(join(root, file), 'utf8');
  if (file.endsWith('.md') && !file.startsWith('config/')) {
    return createPackedPage(file, read(), isPacked);
  }
  if (!file.startsWith('examples/')) return undefined;
  if (file.endsWith('.ts')) return createPackedExample(read());
  if (!file.endsWith('/package.json')) return undefined;
  // The bundle contains Parley's own packages; a registry may have unrelated packages with the same
  // names.
  const { dependencies: _ours, ...manifest } = JSON.parse(read());
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const Packed = z
  .array(z.object({ filename: z.string(), size: z.number(), unpackedSize: z.number() }))
  .length(1);

function runNpmPack(folder: string, destination: string): PackedRelease {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  // If npm runs this script, the same npm does the packing.
  const npm = process.env.npm_execpath;
  const [program, ...before] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const out = execFileSync(program ?? 'npm', [...before, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 16_000_000,
  });
  const [packed] = Packed.parse(JSON.parse(out.slice(out.indexOf('['))));
  if (packed === undefined) throw new Error('npm packed nothing.');
  const { filename, size, unpackedSize } = packed;
  return { file: join(destination, filename), size, unpackedSize };
}
