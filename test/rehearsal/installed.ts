import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { create, extract } from 'tar';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');

export type Replacements = readonly (readonly [text: string, by: string])[];

/** How a build differs from the one that the repository has built. */
export interface BuildChange {
  /** Statements that run when the program is loaded. */
  readonly code?: string;
  /** Texts of the bundle and their replacements; each must occur. */
  readonly replace?: Replacements;
  readonly version?: string;
}

/** The packed release of this repository, and changed builds of it. */
export interface PackedBuilds {
  readonly folder: string;
  readonly file: string;
  /** Unpacks the release where npm would install it below `prefix`. */
  install(prefix: string): Promise<string>;
  /** Makes a changed build that shares all unchanged files; returns its root. */
  change(name: string, change: BuildChange): string;
  /** Packs a changed build like a release; returns the file, beside which is its checksum. */
  pack(name: string, change: BuildChange): Promise<string>;
  remove(): void;
}

/** Packs the release once. */
export async function packBuilds(): Promise<PackedBuilds> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-builds-')));
  const main = join(ROOT, 'apps/parley/src/build/main.ts');
  const out = execFileSync(process.execPath, [main, '--pack', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const { file } = z.object({ file: z.string() }).parse(JSON.parse(out));
  const plain = join(folder, 'plain/parley');
  mkdirSync(plain, { recursive: true });
  await extract({ file, cwd: plain, strip: 1 });
  const change = (name: string, changed: BuildChange): string => {
    const root = join(folder, name, 'parley');
    linkFiles(plain, root);
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    applyChange(root, changed);
    return root;
  };
  return {
    folder,
    file,
    async install(prefix) {
      const root = join(prefix, 'lib/node_modules/parley');
      mkdirSync(root, { recursive: true });
      await extract({ file, cwd: root, strip: 1 });
      symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
      return root;
    },
    change,
    async pack(name, changed) {
      const root = change(name, changed);
      unlinkSync(join(root, 'node_modules'));
      const packed = join(folder, `${name}.tgz`);
      await create(
        { file: packed, cwd: root, prefix: 'package', gzip: { level: 1 } },
        readdirSync(root),
      );
      const sum = execFileSync('node', ['-e', HASH, packed], { encoding: 'utf8' });
      writeFileSync(`${packed}.sha256`, `${sum}  ${name}.tgz\n`);
      return packed;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const HASH = `process.stdout.write(require('crypto').createHash('sha256').update(require('fs').readFileSync(process.argv[1])).digest('hex'))`;

function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}

/** Writes a file anew, because the other builds share it. */
function rewrite(file: string, text: string): void {
  const part = `${file}.part`;
  writeFileSync(part, text);
  unlinkSync(file);
  copyFileSync(part, file);
  unlinkSync(part);
}

function applyChange(root: string, { code, replace = [], version }: BuildChange): void {
  const { hash } = z
    .object({ hash: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'dist/bundle.json'), 'utf8')));
  const bundle = join(root, 'dist', hash);
  const files = readdirSync(bundle).filter((name) => name.endsWith('.mjs'));
  for (const [text, by] of replace) {
    const found = files.filter((name) => readFileSync(join(bundle, name), 'utf8').includes(text));
    if (found.length === 0) throw new Error(`The bundle does not contain ${text}.`);
    for (const name of found) {
      const file = join(bundle, name);
      rewrite(
        file,
        readFileSync(file, 'utf8').replaceAll(text, () => by),
      );
    }
  }
  if (code !== undefined) {
    const file = join(bundle, 'main.mjs');
    // The banner of the bundle declares `require`.
    const [banner = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    rewrite(file, [banner, code, ...rest].join('\n'));
  }
  if (version !== undefined) {
    const file = join(root, 'package.json');
    rewrite(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version }));
  }
}
