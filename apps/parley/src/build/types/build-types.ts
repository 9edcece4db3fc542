import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { bundleDeclarations } from './bundle-declarations.ts';
import type { DeclarationFiles } from './declaration-graph.ts';
import { documentMembers } from './document-members.ts';

/** The modules with published types, by their names in `exports` of package.json. */
const ENTRIES: ReadonlyMap<string, string> = new Map([
  ['plugin', 'packages/plugins/src/public.ts'],

]);

/** Whether the programs that make the types are installed; an image is built without them. */
export function canBuildTypes(root: string): boolean {
  return existsSync(compilerIn(root)) && existsSync(join(root, 'node_modules/oxc-parser'));
}

/**
 * Writes the types for authors of plugins into `dist/types/`, made from the sources: they cannot
 * differ from what Parley accepts. They need no other package; zod's own types are copied.
 */
export function buildTypes(root: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'parley-types-'));
  try {
    emitDeclarations(root, folder);
    const { contract, entries } = bundleDeclarations(
      new Map([...ENTRIES].map(([name, file]) => [name, join(folder, declarationOf(file))])),
      emittedFiles(root, folder),
    );
    const part = join(root, 'dist', `types-${process.pid}`);
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, 'contract.d.ts'), contract);
    for (const [name, text] of entries) writeFileSync(join(part, `${name}.d.ts`), text);
    copyZod(root, join(part, 'zod'));
    rmSync(join(root, 'dist/types'), { recursive: true, force: true });
    renameSync(part, join(root, 'dist/types'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const compilerIn = (root: string): string => join(root, 'node_modules/.bin/tsc');

const declarationOf = (source: string): string => source.replace(/\.ts$/, '.d.ts');

/**
 * Has the compiler write a declaration file for each source. It reports types that cannot be written
 * down as errors; they do not matter unless the published types need them, and then the bundle fails.
 */
function emitDeclarations(root: string, folder: string): void {
  const config = join(folder, 'tsconfig.json');
  const options = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true },
    ...{ outDir: folder, rootDir: root, typeRoots: [join(root, 'node_modules/@types')] },
    paths: Object.fromEntries(workspaceModules(root).map(([name, file]) => [name, [file]])),
  };
  const files = [...ENTRIES.values()].map((file) => join(root, file));
  const extended = join(root, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({ extends: extended, compilerOptions: options, files, include: [] }),
  );
  const { stdout, stderr } = spawnSync(compilerIn(root), ['-p', config], { encoding: 'utf8' });
  const missing = files.find((file) => !existsSync(emittedFor(root, folder, file)));
  if (missing !== undefined) {
    throw new Error(`The compiler made no types of ${missing}:\n${stdout}${stderr}`);
  }
}

const emittedFor = (root: string, folder: string, source: string): string =>
  join(folder, declarationOf(relative(root, source)));

/** The modules of our packages, such as `@parley/core/timeline`, and their sources. */
function workspaceModules(root: string): (readonly [name: string, file: string])[] {
  return ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const folder = join(root, group, name);
      if (!existsSync(join(folder, 'package.json'))) return [];
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return Object.entries<string>(manifest.exports ?? {}).map(
        ([path, file]) => [join(manifest.name, path), join(folder, file)] as const,
      );
    }),
  );
}

function emittedFiles(root: string, folder: string): DeclarationFiles {
  const modules = new Map(workspaceModules(root));
  return {
    read(file) {
      const source = join(root, relative(folder, file)).replace(/\.d\.ts$/, '.ts');
      return documentMembers(readFileSync(file, 'utf8'), readFileSync(source, 'utf8'));
    },
    locate(module, from) {
      if (module.startsWith('.')) return join(dirname(from), declarationOf(module));
      const source = modules.get(module);
      return source && emittedFor(root, folder, source);
    },
    outside: (module) => (module === 'zod' ? './zod/index.js' : undefined),
  };
}

/** Copies the types of zod that its main module needs. */
function copyZod(root: string, to: string): void {
  const from = join(root, 'node_modules/zod');
  const open = ['index.d.ts'];
  const seen = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(join(from, file), 'utf8');
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text);
    for (const [, path = ''] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g)) {
      open.push(join(dirname(file), `${path}.d.ts`));
    }
  }
}
